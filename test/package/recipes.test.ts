/**
 * The recipes of docs/CI.md and the steps of the action as plain shell scripts: every program they start is made to
 * fail once, and the step it is in must fail. The programs are stand-ins; the real one runs in `ci.test.ts`.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from './built.ts';

interface Recipe {
  readonly name: string;
  readonly script: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Step {
  readonly name?: string;
  readonly run?: string;
}

const folder = mkdtempSync(join(tmpdir(), 'cardwright-recipes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes its name and words down, fails when it is the one that is to fail, else prints an id and runs what stands behind --. */
const STAND_IN = `#!/bin/bash
words="$*"
call="\${0##*/} \${words//[$'\\n']/ }"
echo "$call" >> "$CALLS"
[ "$call" = "$FAIL_ON" ] && exit 9
case "\${0##*/}" in *.sh | npm) exit 0 ;; esac
rest=("$@")
while [ \${#rest[@]} -gt 0 ]; do
  if [ "\${rest[0]}" = -- ]; then exec "\${rest[@]:1}"; fi
  rest=("\${rest[@]:1}")
done
echo card_1
`;

mkdirSync(join(folder, 'bin'));
for (const name of ['bin/cardwright', 'bin/npm', 'buy.sh', 'confirm.sh', 'checkout.sh', 'notify.sh']) {
  writeFileSync(join(folder, name), STAND_IN);
  chmodSync(join(folder, name), 0o755);
}

const recipes: Recipe[] = [...stepsOfAction(), ...recipesOfPage()];

function stepsOfAction(): Recipe[] {
  const { runs } = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as { runs: { steps: readonly Step[] } };
  const env = { SCRIPT: './checkout.sh\n./confirm.sh code', VERSION: '1', AMOUNT: '25', BIN: 'auto', TTL: '20m' };
  return runs.steps.map(({ name = '', run = '' }) => ({ name: `action.yml: ${name}`, script: run, env }));
}

/** `run` of the steps and `script` of the jobs, wherever they stand in a block. */
function recipesOfPage(): Recipe[] {
  const page = readFileSync(join(ROOT, 'docs', 'CI.md'), 'utf8');
  const found: Recipe[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      const isScript = ['run', 'script', 'after_script'].includes(key);
      const lines = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
      if (!isScript || lines.length === 0 || !lines.every(line => typeof line === 'string')) visit(value);
      else found.push({ name: `docs/CI.md: ${lines.join('; ').slice(0, 50)}…`, script: lines.join('\n') });
    }
  };
  for (const [, yaml = ''] of page.matchAll(/^```yaml\n(.*?)^```$/gms)) visit(parse(yaml));
  for (const [, text = ''] of page.matchAll(/^```sh\n(.*?)^```$/gms))
    found.push({ name: 'docs/CI.md: sh', script: text });
  return found;
}

/** As a runner that adds no option of its own: what stops at a failure must be said by the recipe. */
function run({ script, env }: Recipe, failOn = '') {
  const [calls, output] = [join(folder, 'calls'), join(folder, 'output')];
  writeFileSync(calls, '');
  writeFileSync(output, '');
  const { status, stderr } = spawnSync('bash', ['-c', script], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 20_000,
    env: {
      // Without it bash takes a socket at its input for a remote shell, and reads start-up files.
      SHLVL: '1',
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
      CALLS: calls,
      FAIL_ON: failOn,
      GITHUB_OUTPUT: output,
      GITHUB_PATH: output,
      GITHUB_ACTION_PATH: folder,
      RUNNER_TEMP: folder,
      CARD: 'card_1',
      CARDWRIGHT_API_KEY: '',
      CARDWRIGHT_BASE_URL: '',
      ...env,
    },
  });
  return { code: status, err: stderr, calls: readFileSync(calls, 'utf8').split('\n').slice(0, -1) };
}

describe.each(recipes)('$name', recipe => {
  const { calls: whole, code, err } = run(recipe);

  it('runs to its end', () => {
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });

  it.each(whole.map(call => ({ call })))('fails with $call', ({ call }) => {
    const failed = run(recipe, call);
    expect(failed.code).not.toBe(0);
  });
});

it('every program of the recipes was made to fail', () => {
  const calls = recipes.flatMap(recipe => run(recipe).calls);
  const programs = new Set(calls.map(call => /^(cardwright \S+ \S+|\S+)/.exec(call)?.[0]));
  expect([...programs].sort()).toEqual([
    'buy.sh',
    'cardwright 3ds wait',
    'cardwright cards create',
    'cardwright cards lease',
    'cardwright cards terminate',
    'cardwright webhooks expect',
    'checkout.sh',
    'confirm.sh',
    'npm',
  ]);
});

describe('where the program is not installed', () => {
  const install = recipes.find(({ name }) => name === 'action.yml: Install');
  const bare = join(folder, 'bare');
  mkdirSync(bare);
  symlinkSync(join(folder, 'bin', 'npm'), join(bare, 'npm'));
  symlinkSync(process.execPath, join(bare, 'node'));
  const PATH = `${bare}:/usr/bin:/bin`;
  const step = (env: Recipe['env']) => ({
    name: '',
    script: install?.script ?? 'exit 1',
    env: { ...install?.env, PATH, ...env },
  });

  it('the action installs it, and fails when that fails', () => {
    expect(run(step({}))).toMatchObject({ code: 0, calls: ['npm install --global --ignore-scripts cardwright@1'] });
    expect(run(step({}), 'npm install --global --ignore-scripts cardwright@1').code).not.toBe(0);
  });

  it('the action of the package uses the program beside it', () => {
    const script = `${install?.script}\nPATH="$RUNNER_TEMP/cardwright:$PATH" cardwright --version`;
    const { code, calls, err } = run({ ...step({ GITHUB_ACTION_PATH: ROOT }), script });
    expect({ code, calls, err }).toEqual({ code: 0, calls: [], err: '' });
    expect(readFileSync(join(folder, 'output'), 'utf8')).toBe(`${join(folder, 'cardwright')}\n`);
  });
});
