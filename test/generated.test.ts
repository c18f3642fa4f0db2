import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

it('completion scripts, reference and tables are what the code says', () => {
  const output = execFileSync(process.execPath, [join(root, 'scripts', 'generate.mjs'), '--check'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(output).toBe('');
});
