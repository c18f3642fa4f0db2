/** Says in the last line of a run that the tests which need a browser did not run, where there is none. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const FOLDER = join(import.meta.dirname, '..', 'test', 'inspector');

export default function setup() {
  const { CARDWRIGHT_BROWSER: named = 'chromium' } = process.env;
  if (spawnSync(named, ['--version'], { stdio: 'ignore' }).status === 0) return undefined;
  const texts = readdirSync(FOLDER).map(name => readFileSync(join(FOLDER, name), 'utf8'));
  const tests = texts.reduce((sum, text) => sum + (text.match(/^\s+it\(/gm)?.length ?? 0), 0);
  return () => {
    process.stderr.write(`not run: ${tests} browser tests, no ${named} (apt-get install chromium)\n`);
  };
}
