/** The suites of vitest.postgres.config.ts, as a run of their own. */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { ROOT } from '../package/built.ts';
import { missing } from '../postgres/server.ts';

const HOUR = 3_600_000;

it.skipIf(missing() !== undefined)('the suites of the sandbox say the same on PostgreSQL', { timeout: HOUR }, () => {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:VITEST|NODE_|TEST_POSTGRES_FOLDER)/.test(name),
  );
  const words = [join('node_modules', 'vitest', 'vitest.mjs'), 'run', '--config', 'vitest.postgres.config.ts'];
  // That run makes a folder of its own among temporary files.
  const env = { ...Object.fromEntries(inherited), TMPDIR: dirname(tmpdir()), NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...words, '--reporter=dot'], {
    ...{ cwd: ROOT, env, encoding: 'utf8', maxBuffer: 1e9 },
  });
  expect({ status, failures: status === 0 ? '' : `${stdout}\n${stderr}` }).toEqual({ status: 0, failures: '' });
});
