import { access, chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findClipboard } from '../../src/terminal/clipboard.ts';
import { fakeXclip } from '../support/fake-clipboard.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-clip-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const around = (env = {}) => ({ platform: 'linux' as const, env: { DISPLAY: ':0', ...env }, folders: [folder] });
const board = () => readFile(join(folder, 'board'), 'utf8');

it('copies through standard input, never through arguments, without our variables', async () => {
  await fakeXclip(folder);
  const clipboard = await findClipboard(around({ CARDWRIGHT_API_KEY: 'CANARYKEY', PATH: process.env['PATH'] }));
  await clipboard?.write('4000001234567899');
  expect(await board()).toBe('4000001234567899');
  expect(await readFile(join(folder, 'args'), 'utf8')).not.toContain('4000');
  expect(await readFile(join(folder, 'env'), 'utf8')).not.toContain('CANARYKEY');
});

it('empties it only while it holds the same', async () => {
  await fakeXclip(folder);
  const clipboard = await findClipboard(around());
  await clipboard?.write('4000001234567899');
  await writeFile(join(folder, 'board'), 'something else');
  expect(await clipboard?.clearIf('4000001234567899')).toBe(false);
  expect(await board()).toBe('something else');
  await clipboard?.write('4000001234567899');
  expect(await clipboard?.clearIf('4000001234567899')).toBe(true);
  expect(await board()).toBe('');
});

it('looks in the named folders alone, and needs a display', async () => {
  await fakeXclip(folder);
  expect(await findClipboard({ ...around(), env: {} })).toBeUndefined();
  expect(await findClipboard({ ...around({ PATH: folder }), folders: [join(folder, 'none')] })).toBeUndefined();
  await chmod(join(folder, 'xclip'), 0o644);
  expect(await findClipboard({ ...around(), folders: [join(folder, 'none')] })).toBeUndefined();
  await expect(access(join(folder, 'board'))).rejects.toThrow('ENOENT');
});

it('says that a program failed without what it was given', async () => {
  await writeFile(join(folder, 'xclip'), '#!/bin/sh\ncat >&2\nexit 3\n', { mode: 0o755 });
  const clipboard = await findClipboard(around());
  const failure = await clipboard?.write('4000001234567899').catch((error: Error) => error);
  expect(String(failure)).toContain('ended with 3');
  expect(String(failure)).not.toContain('4000001234567899');
});

it('does not wait for a display that hangs', async () => {
  await writeFile(join(folder, 'xclip'), '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
  const clipboard = await findClipboard({ ...around({ PATH: process.env['PATH'] }), patienceMs: 200 });
  await expect(clipboard?.write('4000001234567899')).rejects.toThrow('did not end within 200 ms');
  expect(await clipboard?.clearIf('4000001234567899')).toBe(false);
});
