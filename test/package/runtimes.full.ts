/**
 * The whole suite on every release of Node, each in a copy of the checkout whose build that release made. Node 20 has the
 * packaged SQLite and the others have their own, so the store is proved on both.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { ROOT } from './built.ts';
import { NODES } from './nodes.ts';

const HOUR = 3_600_000;
/** Engine by release: Node's own SQLite is used from 3.51.3 on. */
const ENGINES: Readonly<Record<number, 'package' | 'node'>> = { 20: 'package', 22: 'node', 24: 'node', 26: 'node' };
const THIS = Number(process.versions.node.split('.')[0]);

describe('the whole suite', () => {
  it.each(NODES)('passes on Node %i', { timeout: HOUR }, (major, node) => {
    const engine = execFileSync(node, ['-p', 'process.versions.sqlite ?? ""'], { encoding: 'utf8' }).trim();
    expect(engine === '' ? 'package' : 'node').toBe(ENGINES[major]);
    if (major !== THIS) expect(suiteOn(node)).toEqual({ status: 0, failures: '' });
  });
});

function suiteOn(node: string): { status: number | null; failures: string } {
  // Beside the checkout, so that its packages can be linked and need no copy.
  const built = join(ROOT, 'packaging', 'build');
  mkdirSync(built, { recursive: true });
  const copy = mkdtempSync(join(built, 'runtime-'));
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_|CARDWRIGHT_)/.test(name));
  const PATH = `${dirname(node)}${delimiter}${process.env['PATH']}`;
  // That run makes a folder of its own among temporary files; within ours the paths would be longer than anywhere else.
  const env = { ...Object.fromEntries(inherited), PATH, TMPDIR: dirname(tmpdir()) };
  try {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
    const names = listed.toString().split('\0').filter(Boolean);
    for (const name of names) cpSync(join(ROOT, name), join(copy, name));
    execFileSync('cp', ['-al', join(ROOT, 'node_modules'), copy]);
    execFileSync(node, ['scripts/build.mjs'], { cwd: copy, env, stdio: 'ignore' });
    const vitest = join('node_modules', 'vitest', 'vitest.mjs');
    const words = [vitest, 'run', '--reporter=dot', '--no-color', '--testTimeout=120000', '--hookTimeout=120000'];
    const { status, stdout, stderr } = spawnSync(node, words, { cwd: copy, env, encoding: 'utf8', maxBuffer: 1e9 });
    return { status, failures: status === 0 ? '' : `${stdout}\n${stderr}` };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
