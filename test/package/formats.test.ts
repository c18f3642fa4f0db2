import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OUTPUT_FORMATS } from '../../src/terminal/view.ts';

const program = join(import.meta.dirname, '..', '..', 'bin', 'cardwright.js');
const folder = mkdtempSync(join(tmpdir(), 'cardwright-formats-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(...words: string[]) {
  const env = { PATH: process.env['PATH'], CARDWRIGHT_CONFIG_DIR: folder };
  return spawnSync(process.execPath, [program, '--sandbox', ...words], { env, encoding: 'utf8' });
}

/** The bundle links packages in its own way, so what works from source must be seen to work from dist as well. */
describe('the built program writes every format', () => {
  it.each(OUTPUT_FORMATS.map(format => [format]))('%s', format => {
    const { status, stdout, stderr } = run('wallet', '-o', format);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/10000|10,000/);
  });

  it('and what --jq makes of it', () => {
    const { status, stdout, stderr } = run('wallet', '--jq', '.currency, .balance');
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'USD\n10000\n', stderr: '' });
  });

  it('and plays a scenario in YAML', () => {
    const file = join(folder, 'story.yaml');
    writeFileSync(file, 'scenario: A look\nsteps:\n  - wallet.get:\n    expect: {balance: 10000}\n');
    const { status, stdout } = run('sandbox', 'simulate', 'run', file);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '1\t3\twallet.get\tok\t\n' });
  });
});
