/** Histories from seeds, played in processes of their own; see README.md. A failing one is printed with how to replay it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

test.each<[string, string[]]>([
  ['what broke a law once is kept', ['--found']],
  ['no law is broken in three hundred histories', ['--seeds', '300']],
])(
  '%s',
  (_what, words) => {
    const ran = spawnSync(process.execPath, ['scripts/simulate.mjs', ...words], { cwd: root, encoding: 'utf8' });
    process.stdout.write(ran.stdout);
    expect(ran.stderr).toBe('');
    expect(ran.status === 0 ? '' : ran.stdout).toBe('');
  },
  600_000,
);
