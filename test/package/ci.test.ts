/** The composite action and the recipes of docs/CI.md: their steps, run by a plain shell against the sandbox. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isWhole } from '../support/whole.ts';
import { CODE_CACHE, ROOT } from './built.ts';

const execute = promisify(execFile);
let folder: string;

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-ci-'));
  await mkdir(join(folder, 'bin'));
  await script('bin/cardwright', `exec ${process.execPath} ${join(ROOT, 'bin', 'cardwright.js')} "$@"`);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function script(name: string, text: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/bash\nset -euo pipefail\n${text}\n`);
  await chmod(join(folder, name), 0o755);
}

/** One step as a runner would run it: bash, stop at the first failure. Resolves to both streams and the code. */
async function shell(text: string, env: Readonly<Record<string, string>> = {}) {
  const surroundings = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    HOME: folder,
    CI: 'true',
    CARDWRIGHT_CONFIG_DIR: join(folder, 'cardwright'),
    CARDWRIGHT_CACHE: CODE_CACHE,
    CARDWRIGHT_PROFILE: 'sandbox',
    ...env,
  };
  const ran = execute('bash', ['-eo', 'pipefail', '-c', text], { cwd: folder, env: surroundings });
  return ran.then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      out: error.stdout,
      err: error.stderr,
    }),
  );
}

const recipes = async () => {
  const text = await readFile(join(ROOT, 'docs', 'CI.md'), 'utf8');
  return [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, yaml = '']) => parse(yaml));
};

const funded = async () => {
  const { out: all } = await shell('cardwright cards list --all --status active --json');
  return (JSON.parse(all).data as { metadata: Record<string, string>; label: string }[]).filter(
    ({ metadata, label }) => metadata['cardwright_lease'] !== undefined || label.startsWith('run '),
  );
};

describe('action.yml', () => {
  const inputs = {
    run: './checkout.sh',
    amount: '25',
    bin: 'auto',
    ttl: '20m',
    'api-key': '',
    'base-url': '',
    version: '1',
  };

  /** The steps with the inputs filled in; a step after a failure runs only when it says always(). */
  async function act(given: Readonly<Record<string, string>>) {
    const { runs } = parse(await readFile(join(ROOT, 'action.yml'), 'utf8')) as { runs: { steps: readonly Step[] } };
    const filled = (text: string) =>
      text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name: string) => given[name] ?? `missing ${name}`);
    const done = { code: 0, log: '' };
    for (const { run = '', env = {}, ...step } of runs.steps) {
      // Inputs reach a script through its environment alone.
      expect(run).not.toContain('${{');
      if (done.code !== 0 && step.if !== 'always()') continue;
      const filledEnv = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)]));
      const { code, out, err } = await shell(run, { ...filledEnv, GITHUB_ACTIONS: 'true' });
      done.log += out + err;
      if (done.code === 0) done.code = code;
    }
    return done;
  }

  it('runs the script with a card, hides the number first, and leaves no card', { timeout: 180_000 }, async () => {
    await script('checkout.sh', 'echo "paid with $CARD_NUMBER"');
    const { code, log } = await act(inputs);
    expect(code).toBe(0);
    const [, number = ''] = /paid with (\d{16})/.exec(log) ?? [];
    expect(log).toContain(`::add-mask::${number}\n`);
    expect(await funded()).toEqual([]);
  });

  it.runIf(isWhole)('fails as the script fails, and leaves no card either', { timeout: 180_000 }, async () => {
    const { code } = await act({ ...inputs, run: 'false\necho not reached' });
    expect(code).toBe(1);
    expect(await funded()).toEqual([]);
  });
});

describe('docs/CI.md', () => {
  it.runIf(isWhole)('the GitHub steps buy with a code and end the card', { timeout: 180_000 }, async () => {
    const steps = (await recipes())[1].steps as readonly Step[];
    await script('buy.sh', 'cardwright sandbox simulate challenge --card "$1" --amount 5 --merchant Shop -q > bought');
    await script('confirm.sh', 'echo "$1" > code');
    const output = join(folder, 'output');
    const outputs: Record<string, string> = {};
    for (const { run = '', env = {}, id } of steps) {
      const filled = Object.entries(env).map(([name, value]) => [
        name,
        value.replace(/\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}/g, (_, step, key) => outputs[`${step}.${key}`] ?? ''),
      ]);
      await writeFile(output, '');
      const { code, err } = await shell(run, {
        ...Object.fromEntries(filled),
        GITHUB_ACTIONS: 'true',
        GITHUB_OUTPUT: output,
      });
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
      for (const line of (await readFile(output, 'utf8')).split('\n')) {
        const [key, value] = line.split('=');
        if (id !== undefined && key && value) outputs[`${id}.${key}`] = value;
      }
    }
    expect(await readFile(join(folder, 'code'), 'utf8')).toMatch(/^\d{6}\n$/);
    expect(await funded()).toEqual([]);
  });

  it.runIf(isWhole)('the GitLab job asserts on the event and leaves no card', { timeout: 180_000 }, async () => {
    const { checkout } = (await recipes())[2] as { checkout: { script: string[]; after_script: string[] } };
    await script('checkout.sh', 'test -n "$CARD_NUMBER"');
    for (const line of [...checkout.script, ...checkout.after_script]) {
      const { code, err } = await shell(line, { CARDWRIGHT_NO_INPUT: '1' });
      expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' });
    }
    expect(await funded()).toEqual([]);
  });
});
