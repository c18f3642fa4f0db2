/**
 * The canary scan: the built program in child processes, against a service whose key, card number, code and signing
 * secret occur nowhere else in the world. Afterwards every byte it left is searched. Each story names the one place its
 * secret may be in. (The store of the built-in sandbox is the service's side and may hold numbers: no sandbox here.)
 * The whole run has more stories, and each command both ways.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { unpack } from '../package/tarball.ts';
import { isWhole } from '../support/whole.ts';
import { world } from '../support/world.ts';
import {
  CANARIES,
  everyCommandKeeps,
  expectKeyInOneHeader,
  held,
  leaveNoByte,
  MORE_STORIES,
  run,
  STORIES,
  withCanaries,
} from './canary.ts';

withCanaries();

describe.runIf(process.platform === 'linux')('no byte outside the chosen place', () => {
  it(
    'stays in streams, arguments, environments and files',
    () => leaveNoByte(isWhole ? [...STORIES, ...MORE_STORIES] : STORIES),
    120_000,
  );

  it('a key on the command line, which no option takes, is repeated by no message', async () => {
    const { key } = CANARIES;
    const { out, err } = await run({ words: ['wallet', '--json', `--api-key=${key}`], stdin: key });
    expect([held(out), held(err)]).toEqual([[], []]);
    await using here = await world();
    for (const line of [
      `wallet --api-key ${key}`,
      `wallet --key=${key}`,
      `wallet ${key}`,
      key,
      `cards ${key}`,
      `cards create --bin bin_1 --amount ${key}`,
      `cards details card_1 --field ${key}`,
      `--profile ${key} wallet`,
      `--sandbox wallet --contract ${key}`,
      `-o ${key} wallet`,
      `login --base-url https://${key}@api.example.com/v1 --key-stdin`,
      `profiles show ${key}`,
      `webhooks verify ${key}`,
    ]) {
      const { out, err } = await here.run(line, { stdin: key });
      expect([line, held(out), held(err)]).toEqual([line, [], []]);
    }
  });

  it(
    'every command that meets the service keeps them, one with --debug and the next as data',
    () => everyCommandKeeps(nth => [' --debug', ' --json'].filter((_, look) => isWhole || look === nth % 2)),
    120_000,
  );

  it('the service saw the key in one header alone', expectKeyInOneHeader);

  it('the package holds none of it, and nothing of a user', async () => {
    const packed = await mkdtemp(join(tmpdir(), 'cardwright-packed-'));
    await unpack(packed);
    const inside = await readdir(join(packed, 'package'), { recursive: true, withFileTypes: true });
    const files = inside.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) {
      const path = file.slice(join(packed, 'package').length + 1);
      expect(path).toMatch(
        /^(?:bin|dist|completions|man|skills|docs|examples)\/|^(?:package\.json|(?:README|CHANGELOG|SECURITY)\.md|action\.yml|llms\.txt|LICENSE)$/,
      );
      expect([path, held(await readFile(file, 'latin1'))]).toEqual([path, []]);
    }
    await rm(packed, { recursive: true });
  });
});
