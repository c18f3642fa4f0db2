/** `sandbox exec -- program`: a sandbox of its own for one program; in the whole run more ways to start and to end. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, ended, type Home, home, type Start } from '../package/built.ts';
import { isWhole } from '../support/whole.ts';

let place: Home;

beforeAll(async () => {
  place = await home();
  await mkdir(temporary());
});
afterAll(() => place[Symbol.asyncDispose]());

const node = process.execPath;
const temporary = () => join(place.folder, 'tmp');
const exec = (flags: readonly string[], program: readonly string[], how?: Start) =>
  place.run(['sandbox', 'exec', ...flags, '--', ...program], { ...how, env: { TMPDIR: temporary(), ...how?.env } });
const script = (source: string) => [node, '-e', source];
const cardwright = (line: string) => `${node} ${join(import.meta.dirname, '..', '..', 'bin', 'cardwright.js')} ${line}`;
const last = ({ err }: Ended) => err.trimEnd().split('\n').at(-1);
const leftOver = async () => (await readdir(temporary())).filter(name => name.startsWith('cardwright-exec-'));

/** A program that has written its first line. */
async function started(source: string) {
  const child = place.start(['sandbox', 'exec', '--', ...script(source)], { env: { TMPDIR: temporary() } });
  const end = ended(child);
  await new Promise(resolve => child.stdout?.once('data', resolve));
  return { child, end };
}

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
});

describe.runIf(isWhole)('what the program gets otherwise', () => {
  it('meets the fault rules of a file from its first request on', async () => {
    const rules = [{ match: { operation: 'wallet.get' }, action: { kind: 'status', code: 503 }, times: 20 }];
    await writeFile(join(place.folder, 'faults.json'), JSON.stringify(rules));
    const file = join(place.folder, 'faults.json');
    const ran = await exec(['--fault', file], ['sh', '-c', cardwright('wallet --timeout 2s')]);
    expect(ran.code).toBe(12);
    expect(ran.err).toMatch(/GET \/v1\/wallet \(wallet\.get\) req_\w+ fault after_commit status/);
    await writeFile(file, '{ "action": { "kind": "nothing" } }');
    expect((await exec(['--fault', file], script(''))).code).toBe(2);
  });

  it('is one sandbox, by address and by --sandbox, with the same ids for the same seed', async () => {
    const create = 'cards create --bin auto --amount 5 --idempotency-key one -q';
    const both = [create, '--sandbox cards list --status active --json --fields id'];
    const one = await exec(['--seed', '7'], ['sh', '-c', both.map(cardwright).join(' && ')]);
    expect(one).toMatchObject({ code: 0 });
    const [card = '', ...rest] = one.out.split('\n');
    expect(card).toMatch(/^card_[a-z2-7]{24}$/);
    expect(rest.join('\n')).toContain(card);
    const two = await exec(['--seed', '7'], ['sh', '-c', cardwright(create)]);
    expect(two.out).toBe(`${card}\n`);
  });
});

describe.runIf(isWhole)('how it ends otherwise', () => {
  it('sends what is due before it ends, and says which webhooks did not arrive', async () => {
    const source = `const { createServer } = require('node:http');
      const { env } = process;
      const seen = [];
      const receiver = createServer((request, response) => { seen.push(request.url); response.statusCode = 500; response.end(); });
      receiver.listen(0, '127.0.0.1', async () => {
        const url = 'http://127.0.0.1:' + receiver.address().port + '/hook';
        const post = (path, body) => fetch(env.CARDWRIGHT_BASE_URL + path, { method: 'POST', body: JSON.stringify(body),
          headers: { authorization: 'Bearer ' + env.CARDWRIGHT_API_KEY, 'content-type': 'application/json' } });
        await post('/webhooks', { url, events: ['*'] });
        const { data } = await (await fetch(env.CARDWRIGHT_BASE_URL + '/bins', { headers: { authorization: 'Bearer ' + env.CARDWRIGHT_API_KEY } })).json();
        await post('/cards', { bin_id: data[0].id, amount: 5 });
        while (seen.length === 0) await new Promise(resolve => setTimeout(resolve, 10));
        process.exit(4);
      });`;
    const ran = await exec([], script(source));
    expect(ran.code).toBe(4);
    expect(ran.err).toContain('sandbox exec: webhooks that did not arrive');
    expect(ran.err).toMatch(/ {2}card\.created to wh_\w+: queued after 1 try, 500 dlv_/);
  });
});
