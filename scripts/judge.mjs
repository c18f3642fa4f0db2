/** `npm run judge`: the judges of test/contract/judges when they are installed, else how to install them. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

if (existsSync(join(root, 'test', 'contract', 'judges', 'node_modules', 'ajv'))) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--config', 'vitest.full.config.ts', 'test/contract/judges'];
  process.exitCode = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
} else {
  // A judge that is skipped has judged nothing.
  if (process.env.CI === 'true') process.exitCode = 1;
  process.stdout.write(
    '\nNOT RUN: Redocly, Spectral, Prism and Ajv, the judges of the OpenAPI documents, are not installed.\n' +
      'To run them: (cd test/contract/judges && npm ci) && npm run judge\n\n',
  );
}
