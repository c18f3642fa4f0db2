/** Folders are made step by step, and a place that takes none is an error at once. */
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolders, preparePrivateFolder, privateFolder } from '../../src/files/private-files.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { chance, freshFolder } from '../profile/dependencies.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;

it('makes what is missing with the mode, and leaves what is there as it is', async () => {
  await using fresh = await freshFolder();
  const [there, link, made] = ['there', 'link', 'link/a/b'].map(name => join(fresh.path, name)) as [
    string,
    ...string[],
  ];
  mkdirSync(there);
  chmodSync(there, 0o755);
  symlinkSync(there, link ?? '');
  makeFolders(made ?? '', 0o700);
  makeFolders(made ?? '', 0o777);
  expect([there, join(there, 'a'), join(there, 'a', 'b')].map(modeOf)).toEqual([0o755, 0o700, 0o700]);
  writeFileSync(join(there, 'file'), '');
  expect(() => makeFolders(join(there, 'file'), 0o700)).toThrow('EEXIST');
  expect(() => makeFolders(join(there, 'file', 'x', 'y'), 0o700)).toThrow('ENOTDIR');
});

// Node's own mkdir with `recursive` would hold this process up for ever.
it.runIf(existsSync('/proc/self'))('a place that takes no folders is told at once', async () => {
  expect(() => makeFolders('/proc/x/y', 0o700)).toThrow('/proc/x cannot be made: /proc takes no folders');
  await expect(startSandbox({ store: '/proc/x/y' })).rejects.toMatchObject({ kind: 'guarded' });
  expect(() => privateFolder('/proc/x', 'linux')).toThrow('takes no folders');
  const around = { platform: 'linux', random: chance, warn: () => undefined } as const;
  await expect(preparePrivateFolder('/proc/x', around)).rejects.toThrow('takes no folders');
});
