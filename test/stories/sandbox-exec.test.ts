/** `sandbox exec -- program`: a sandbox of its own for one program. `sandbox-exec.full.ts` has more ways to start and to end. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { exec, inAHome, last, leftOver, script, started, temporary } from './sandbox-exec.ts';

inAHome();

describe('what the program gets', () => {
  it('has the sandbox in its environment and nothing else of ours, and standard output to itself', async () => {
    const env = { CARDWRIGHT_PROFILE: 'mine', CARDWRIGHT_SANDBOX_DIALECT: 'minimal', OTHER: 'kept' };
    const source = `const { env } = process;
      const ours = Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('CARDWRIGHT_')));
      const headers = { authorization: 'Bearer ' + env.CARDWRIGHT_API_KEY };
      fetch(env.CARDWRIGHT_BASE_URL + '/wallet', { headers }).then(answer => console.log(JSON.stringify({
        ours, other: env.OTHER, argv: process.argv.slice(1), requestId: answer.headers.get('x-request-id') })));`;
    const ran = await exec([], [...script(source), 'a b', '$HOME', '*'], { env });
    expect(ran).toMatchObject({ code: 0 });
    const { ours, other, argv, requestId } = JSON.parse(ran.out) as {
      ours: Record<string, string>;
      other: string;
      argv: string[];
      requestId: string | null;
    };
    expect(other).toBe('kept');
    // The sandbox speaks as the environment says: minimal has no optional header.
    expect(requestId).toBeNull();
    expect(argv).toEqual(['a b', '$HOME', '*']);
    const port = new URL(ours['CARDWRIGHT_SANDBOX_URL'] ?? '').port;
    expect(ours).toEqual({
      CARDWRIGHT_BASE_URL: `http://127.0.0.1:${port}/v1`,
      CARDWRIGHT_API_KEY: expect.stringMatching(/^sk_test_[\w-]{43}$/),
      CARDWRIGHT_SANDBOX_URL: `http://127.0.0.1:${port}`,
      CARDWRIGHT_SANDBOX_TOKEN: expect.stringMatching(/^sandbox_[\w-]{43}$/),
      CARDWRIGHT_WEBHOOK_SECRET: expect.stringMatching(/^whsec_[\w-]{43}$/),
      CARDWRIGHT_CONFIG_DIR: expect.stringContaining('cardwright-exec-'),
      CARDWRIGHT_TEST_ONLY: '1',
    });
    expect(existsSync(ours['CARDWRIGHT_CONFIG_DIR'] ?? '')).toBe(false);
    expect(last(ran)).toBe('sandbox exec: the program ended with 0; the ledger of the sandbox balances');
    const secrets = ['CARDWRIGHT_API_KEY', 'CARDWRIGHT_SANDBOX_TOKEN', 'CARDWRIGHT_WEBHOOK_SECRET'];
    for (const name of secrets) expect(ran.err).not.toContain(ours[name]);
  });
});

describe('how it ends', () => {
  it.each([['its exit code', 'process.exit(3)', 3, 'the program ended with 3']])(
    'with %s, and leaves nothing behind',
    async (_what, source, code, says) => {
      const before = await leftOver();
      const ran = await exec([], script(source));
      expect(ran).toMatchObject({ code, out: '' });
      expect(last(ran)).toContain(says);
      expect(ran.err).toContain('sandbox exec: no request came');
      expect(await leftOver()).toEqual(before);
    },
  );

  /** Spoils the books behind the server's back, as no request can. */
  const SPOIL = `const path = process.env.CARDWRIGHT_CONFIG_DIR + '/data/sandbox/store.db';
    const { DatabaseSync } = require('@photostructure/sqlite');
    const store = new DatabaseSync(path);
    store.exec('update wallets set balance = balance + 1');
    store.close();`;

  it('is 15 in place of 0 when the books do not agree', async () => {
    const spoil = script(SPOIL);
    const ran = await exec([], spoil, { env: { NODE_PATH: join(import.meta.dirname, '..', '..', 'node_modules') } });
    expect(ran).toMatchObject({ code: 15, out: '' });
    expect(last(ran)).toMatch(
      /^error: sandbox exec: the program ended with 0, but the ledger .* does not balance: I2 /,
    );
  });
});

describe('signals', () => {
  it.each([
    // Off a terminal nobody else passes it on.
    ['SIGINT', 130],
  ] as const)('%s is passed on, and the end of the program is ours', async (name, code) => {
    const { child, end } = await started("console.log('here'); setInterval(() => {}, 1000);");
    child.kill(name);
    const ran = await end;
    expect(ran).toMatchObject({ code, signal: null });
    expect(last(ran)).toContain(`was ended by ${name} (${code})`);
  });

  it('killed with no chance to tidy up, its folder goes with the next run, and not before its program', async () => {
    const before = await leftOver();
    const { child, end } = await started('console.log(process.pid); setInterval(() => {}, 1000);');
    const gone = new Promise(resolve => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    const left = (await leftOver()).filter(name => !before.includes(name));
    expect(left).toHaveLength(1);
    await exec([], script(''));
    expect(await leftOver()).toContain(left[0]);
    const program = (await readdir(join(temporary(), left[0] ?? ''))).map(name => /^used-by-(\d+)$/.exec(name)?.[1]);
    const alive = program.map(Number).filter(id => id > 0 && id !== child.pid);
    expect(alive).toHaveLength(1);
    for (const id of alive) process.kill(id, 'SIGKILL');
    await end;
    await exec([], script(''));
    expect(await leftOver()).toEqual(before);
  });
});
