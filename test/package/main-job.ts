/** The main job, by an installed program that is seen as any other: a file to start. Nothing of the network is there. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';

const BARE = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' };
/** A network namespace of its own without a way out, where this system lets us have one. */
const ALONE = ['unshare', '--map-root-user', '--net'];
const alone = spawnSync('unshare', [...ALONE.slice(1), 'true'], { stdio: 'ignore' }).status === 0 ? ALONE : [];

/** Creates, lists, funds, freezes and shows a card in the sandbox; fails the test where the program does not. */
export function mainJob(program: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'cardwright-main-job-'));
  try {
    const run = (...words: string[]) => {
      const [file = '', ...more] = [...alone, ...program, '--sandbox', ...words];
      const env = { ...BARE, CARDWRIGHT_CONFIG_DIR: folder };
      const { status, stdout, stderr } = spawnSync(file, more, { cwd: folder, env, encoding: 'utf8' });
      expect({ line: words.join(' '), status, stderr }).toEqual({ line: words.join(' '), status: 0, stderr: '' });
      return stdout;
    };
    const before = JSON.parse(run('wallet', '--json')).balance;
    const id = run('cards', 'create', '--bin', 'auto', '--amount', '25', '--label', 'ads: search', '-q').trim();
    expect(id).toMatch(/^card_\w+$/);
    expect(run('cards', 'list', '-o', 'id').split('\n')).toContain(id);
    run('cards', 'fund', id, '--amount', '10.50', '--json');
    expect(JSON.parse(run('cards', 'get', id, '--json'))).toMatchObject({ id, balance: 35.5, label: 'ads: search' });
    expect(JSON.parse(run('cards', 'freeze', id, '--json'))).toMatchObject({ status: 'frozen' });
    expect(JSON.parse(run('cards', 'details', id, '--reveal', '--print', '--json'))).toMatchObject({
      card_id: id,
      number: expect.stringMatching(/^\d{15,16}$/),
    });
    expect(JSON.parse(run('wallet', '--json')).balance).toBeCloseTo(before - 35.5, 2);
    expect(run('wallet', '--jq', '.currency')).toBe('USD\n');
    expect(run('audit', 'verify')).not.toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
