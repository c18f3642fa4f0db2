/** Compiled code of the built program in a home of its own, and what becomes of it when it is spoilt. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Home, home } from './built.ts';

/** A home whose compiled code is in it and nowhere else. */
export async function alone(): Promise<Home & { readonly cache: string; version(): Promise<string> }> {
  const place = await home();
  const cache = join(place.folder, 'cache');
  const version = async () => {
    const { code, out, err } = await place.run(['--version'], { env: { CARDWRIGHT_CACHE: cache } });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return out;
  };
  return { ...place, cache, version };
}

/** The folder of this build, and the compiled code in it. */
export async function kept(cache: string) {
  const [build = ''] = await readdir(join(cache, 'code'));
  const folder = join(cache, 'code', build);
  const files = (await readdir(folder)).filter(name => name.endsWith('.code'));
  return { folder, files };
}

function turned(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}

type Spoil = (bytes: Buffer) => Buffer;

/** The ones that come nearest to whole code. */
export const SHARPEST: Readonly<Record<string, Spoil>> = {
  'cut short': bytes => bytes.subarray(0, bytes.length >> 1),
  'with one bit turned in its first copy': bytes => turned(bytes, (bytes.length >> 1) - 500),
};

export const OTHERS: Readonly<Record<string, Spoil>> = {
  empty: () => Buffer.alloc(0),
  'of text': () => Buffer.from('not compiled code'),
  'with one bit turned in its second copy': bytes => turned(bytes, bytes.length - 500),
  'with another length': bytes => turned(bytes, 5),
  'with zeros where one copy was': bytes =>
    Buffer.concat([bytes.subarray(0, bytes.length >> 1), Buffer.alloc(bytes.length - (bytes.length >> 1))]),
};

export function notUsedWhenSpoilt(ways: Readonly<Record<string, Spoil>>): void {
  describe('that is spoilt', () => {
    let place: Awaited<ReturnType<typeof alone>>;
    let [version, path, whole] = ['', '', Buffer.alloc(0)];
    beforeAll(async () => {
      place = await alone();
      version = await place.version();
      const { folder } = await kept(place.cache);
      path = join(folder, 'start.js.code');
      whole = await readFile(path);
      // So that no run below keeps anything: the code of other files would be in use.
      await writeFile(join(folder, 'lines'), '\n--version\n\n--sandbox doctor\n');
    });
    afterAll(() => place[Symbol.asyncDispose]());

    it.each(Object.entries(ways))('is not used when it is %s', async (_how, spoil) => {
      const spoilt = spoil(Buffer.from(whole));
      await writeFile(path, spoilt);
      expect(await place.version()).toBe(version);
      const { out } = await place.run(['--sandbox', 'doctor'], { env: { CARDWRIGHT_CACHE: place.cache } });
      expect(out).not.toContain('in use');
    });
  });
}
