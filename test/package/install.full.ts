import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { mainJob } from './main-job.ts';
import { NODES } from './nodes.ts';
import { packed } from './tarball.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-install-'));
  const { path } = await packed();
  const place = join(folder, 'place');
  execFileSync('mkdir', [place]);
  await writeFile(join(place, 'package.json'), '{ "private": true }\n');
  // The packages of the lock are in npm's cache where `npm ci` ran before.
  execFileSync('npm', ['install', '--ignore-scripts', '--prefer-offline', path], { cwd: place, stdio: 'ignore' });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the tarball, installed without scripts into an empty folder, does the main job offline', () => {
  it.each(NODES)('on Node %i', (_major, node) => {
    const program = join(folder, 'place', 'node_modules', '.bin', 'cardwright');
    if (!existsSync(program)) throw new Error('npm made no command');
    mainJob([node, program]);
  });
});
