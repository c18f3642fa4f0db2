/** Histories from seeds, played in processes of their own; see README.md. A failing one is printed with how to replay it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

test('no law is broken in two thousand histories, nor in those that broke one once', () => {
  const words = ['scripts/simulate.mjs', '--seeds', '2000'];
  const ran = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
  process.stdout.write(ran.stdout);
  expect(ran.stderr).toBe('');
  expect(ran.status === 0 ? '' : ran.stdout).toBe('');
}, 600_000);
