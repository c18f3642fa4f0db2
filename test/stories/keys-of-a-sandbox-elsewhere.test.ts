/** A sandbox that a profile names honours keys, once it has proved that it has the API key of the profile. */
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ServedSandbox, served } from '../support/served-sandbox.ts';
import { type RunOptions, type World, world } from '../support/world.ts';

const LOST = { match: { operation: 'cards.fund' }, phase: 'after_commit', action: { kind: 'reset' } };

interface Scene extends AsyncDisposable {
  readonly fund: string;
  readonly here: World;
  readonly server: ServedSandbox;
  /** Runs as the profile `team`, which names the address and the key alone. */
  run(line: string, code: number, options?: RunOptions): Promise<string>;
  /** Funds that the sandbox was asked for, and the balance of the card. */
  effect(): Promise<readonly [asked: number, balance: number]>;
}

/** A card with 100 USD, in a sandbox that loses the answers to `times` funds. */
async function scene(times: number, start = ''): Promise<Scene> {
  const here = await world({ env: { CARDWRIGHT_PROFILE: '' } });
  const server = await served(here, `sandbox start --json --data demo ${start}`);
  const run: Scene['run'] = async (line, code, options = {}) => {
    const ran = await here.run(line, {
      onPause: () => undefined,
      ...options,
      env: { CARDWRIGHT_PROFILE: 'team', ...options.env },
    });
    expect(`${line}: ${ran.code}${ran.code === code ? '' : ran.err}`).toBe(`${line}: ${code}`);
    return code === 0 ? ran.out : ran.err;
  };
  const steer = { env: server.env };
  await run(`login --profile team --base-url ${server.row.url} --key-file ${server.row.api_key_file}`, 0);
  const card = (await run('cards create --bin auto --amount 100 -q', 0)).trim();
  await run('sandbox faults add - -q', 0, { ...steer, stdin: JSON.stringify({ ...LOST, times }) });
  const effect = async () => {
    const { data } = JSON.parse(await run('sandbox requests --operation cards.fund --json', 0, steer));
    return [data.length, JSON.parse(await run(`cards get ${card} --json`, 0)).balance] as const;
  };
  const dispose = async () => {
    expect((await server.stop()).code).toBe(0);
    await here[Symbol.asyncDispose]();
  };
  return { fund: `cards fund ${card} --amount 25`, here, server, run, effect, [Symbol.asyncDispose]: dispose };
}

async function withToken({ here, server, run }: Scene): Promise<void> {
  await writeFile(join(here.folder, 'token'), `${server.env['CARDWRIGHT_SANDBOX_TOKEN']}\n`, { mode: 0o600 });
  await run('profiles set team sandbox_token_file token', 0);
}

describe('a fund whose answer is lost', () => {
  it('is repeated under its key where the profile has the token', async () => {
    await using at = await scene(1);
    await withToken(at);
    await at.run(at.fund, 0);
    expect(await at.effect()).toEqual([2, 125]);
  });

  it('is repeated under its key where the environment names the sandbox', async () => {
    await using at = await scene(1);
    await at.run(at.fund, 0, { env: at.server.env });
    expect(await at.effect()).toEqual([2, 125]);
  });

  it('is not sent again without a token', async () => {
    await using at = await scene(1);
    await at.run(at.fund, 11);
    expect(await at.effect()).toEqual([1, 125]);
  });

  it('is not sent again where the dialect ignores keys', async () => {
    await using at = await scene(1, '--dialect keys-ignored');
    await withToken(at);
    await at.run(at.fund, 11);
    expect(await at.effect()).toEqual([1, 125]);
  });

  it('is not sent again on the word of the sandbox of another key', async () => {
    await using at = await scene(1);
    await using elsewhere = await world({ countFrom: 500 });
    await using other = await served(elsewhere, 'sandbox start --json');
    await at.run(at.fund, 11, { env: other.env });
    expect(await at.effect()).toEqual([1, 125]);
  });

  it('is not sent again on the word of something that has no key', async () => {
    await using at = await scene(1);
    const asked: string[] = [];
    const liar = createServer(({ url = '' }, response) => {
      asked.push(url.replace(/=.*/, ''));
      const said = { dialect: 'default', changes: 'none', honours_keys: true, stated_for: ['0'.repeat(64)] };
      response
        .setHeader('Content-Type', 'application/json')
        .setHeader('X-Sandbox', 'cardwright')
        .end(JSON.stringify(said));
    });
    await new Promise<void>(resolve => liar.listen(0, '127.0.0.1', resolve));
    const { port } = liar.address() as AddressInfo;
    const env = { ...at.server.env, CARDWRIGHT_SANDBOX_URL: `http://127.0.0.1:${port}` };
    await at.run(at.fund, 11, { env });
    expect(asked).toEqual(['/_sandbox/v1/dialect?nonce']);
    expect(await at.effect()).toEqual([1, 125]);
    await new Promise(resolve => liar.close(resolve));
  });

  it('is repeated under its key where the sandbox was busy when it was asked whose key it is', async () => {
    await using at = await scene(1);
    const elsewhere = at.server.env['CARDWRIGHT_SANDBOX_URL'] ?? '';
    let busy = 7;
    const front = createServer(async ({ url = '', headers }, response) => {
      const isBusy = busy > 0;
      busy -= 1;
      const said = { error: 'service_unavailable', message: 'The store is busy', code: 503 };
      const authorization = headers.authorization ?? '';
      const answer = isBusy ? undefined : await fetch(`${elsewhere}${url}`, { headers: { authorization } });
      response
        .writeHead(answer?.status ?? 503, { 'Content-Type': 'application/json', 'X-Sandbox': 'cardwright' })
        .end(answer === undefined ? JSON.stringify(said) : await answer.text());
    });
    await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve));
    const { port } = front.address() as AddressInfo;
    const env = { ...at.server.env, CARDWRIGHT_SANDBOX_URL: `http://127.0.0.1:${port}` };
    await at.run(at.fund, 0, { env });
    expect(busy).toBeLessThan(0);
    expect(await at.effect()).toEqual([2, 125]);
    await new Promise(resolve => front.close(resolve));
  });

  it('is not sent again once the clock of the sandbox was moved past the life of its key', async () => {
    await using at = await scene(50);
    await withToken(at);
    const [op = ''] = /op_\w+/.exec(await at.run(at.fund, 11)) ?? [];
    const [asked] = await at.effect();
    await at.run('sandbox faults clear --yes', 0);
    await at.run('sandbox clock advance --by 2d', 0);
    await at.run(`ops resume ${op}`, 11);
    expect(await at.effect()).toEqual([asked, 125]);
  });

  it('is finished by a resume', async () => {
    await using at = await scene(50);
    await withToken(at);
    const [op = ''] = /op_\w+/.exec(await at.run(at.fund, 11)) ?? [];
    await at.run('sandbox faults clear --yes', 0);
    const pauses: number[] = [];
    await at.run(`ops resume ${op}`, 0, { onPause: ms => void pauses.push(ms) });
    expect((await at.effect())[1]).toBe(125);
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(10_000);
  });
});
