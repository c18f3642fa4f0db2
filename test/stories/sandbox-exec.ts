/** A home, and in it `sandbox exec -- program` by the built program as a shell starts it. */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll } from 'vitest';
import { type Ended, ended, type Home, home, type Start } from '../package/built.ts';

let place: Home;

/** For the tests of this file. */
export function inAHome(): void {
  beforeAll(async () => {
    place = await home();
    await mkdir(temporary());
  });
  afterAll(() => place[Symbol.asyncDispose]());
}

const node = process.execPath;
export const here = () => place;
export const temporary = () => join(place.folder, 'tmp');
export const exec = (flags: readonly string[], program: readonly string[], how?: Start) =>
  place.run(['sandbox', 'exec', ...flags, '--', ...program], { ...how, env: { TMPDIR: temporary(), ...how?.env } });
export const script = (source: string) => [node, '-e', source];
export const cardwright = (line: string) =>
  `${node} ${join(import.meta.dirname, '..', '..', 'bin', 'cardwright.js')} ${line}`;
export const last = ({ err }: Ended) => err.trimEnd().split('\n').at(-1);
export const leftOver = async () => (await readdir(temporary())).filter(name => name.startsWith('cardwright-exec-'));

/** A program that has written its first line. */
export async function started(source: string) {
  const child = place.start(['sandbox', 'exec', '--', ...script(source)], { env: { TMPDIR: temporary() } });
  const end = ended(child);
  await new Promise(resolve => child.stdout?.once('data', resolve));
  return { child, end };
}
