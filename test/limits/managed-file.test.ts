import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { managedFilePath, readManagedLimits } from '../../src/limits/managed-file.ts';

const ORIGIN = 'https://api.example.com';
const us = process.getuid?.() ?? 0;

function managed(text: string, mode = 0o644) {
  const root = mkdtempSync(join(tmpdir(), 'cardwright-limits-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = join(root, 'cardwright');
  mkdirSync(folder, { mode: 0o755 });
  const path = join(folder, 'limits.json');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return { folder, file: { path, administrator: us, platform: process.platform } };
}

const refusal = (file: Parameters<typeof readManagedLimits>[0], origin?: string) =>
  readManagedLimits(file, origin).then(
    () => undefined,
    (error: { kind: string; message: string }) => `${error.kind}: ${error.message}`,
  );

test.each([
  ['a text that is no JSON', '{', 'not JSON'],
  ['a limit nobody knows', '{"max_per_cal":"1.00"}', 'max_per_cal'],
  ['a value of another form', '{"max_per_call":"much"}', 'max_per_call'],
  ['an origin with a path', '{"origins":{"https://api.example.com/v1":{}}}', 'origins'],
  ['another word for reveal', '{"reveal":"always"}', 'reveal'],
  ['approvers that are no list', '{"approvers":"bo"}', 'approvers'],
])('%s is refused', async (_, text, named) => {
  const refused = await refusal(managed(text).file, ORIGIN);
  expect(refused).toMatch(/^guarded: /);
  expect(refused).toContain(named);
});

test.skipIf(process.platform === 'win32')('what others can write is refused, the file and its folders', async () => {
  expect(await refusal(managed('{}', 0o666).file)).toContain('it can be written by others');
  const open = managed('{}');
  chmodSync(open.folder, 0o775);
  expect(await refusal(open.file)).toContain('can be written by others');
  const linked = managed('{}');
  const link = join(linked.folder, 'link.json');
  symlinkSync(linked.file.path, link);
  expect(await refusal({ ...linked.file, path: link })).toContain('no ordinary file');
});

test.skipIf(us !== 0)('a file of somebody else than root is refused', async () => {
  const { file } = managed('{}');
  const { chownSync } = await import('node:fs');
  chownSync(file.path, 1_000, 1_000);
  expect(await refusal(file)).toContain('does not belong to root');
});

test('each system has its place', () => {
  expect(managedFilePath('linux')).toBe('/etc/cardwright/limits.json');
  expect(managedFilePath('darwin')).toBe('/Library/Application Support/cardwright/limits.json');
  expect(managedFilePath('win32')).toBe('C:\\ProgramData\\cardwright\\limits.json');
});
