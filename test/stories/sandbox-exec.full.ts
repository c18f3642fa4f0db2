/** `sandbox exec -- program` beside `sandbox-exec.test.ts`: faults from the first request on, stores that are kept, programs that end otherwise. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cardwright, exec, here, inAHome, last, leftOver, script } from './sandbox-exec.ts';

inAHome();

describe('what the program gets', () => {
  it('meets the fault rules of a file from its first request on', async () => {
    const rules = [{ match: { operation: 'wallet.get' }, action: { kind: 'status', code: 503 }, times: 20 }];
    await writeFile(join(here().folder, 'faults.json'), JSON.stringify(rules));
    const file = join(here().folder, 'faults.json');
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
    const two = await exec(['--seed', '7', '--no-final-check'], ['sh', '-c', cardwright(create)]);
    expect(two.out).toBe(`${card}\n`);
    expect(last(two)).toBe('sandbox exec: the program ended with 0');
  });
});

describe('how it ends', () => {
  it('leaves a copy of what the sandbox held, which sandbox import takes', async () => {
    const file = join(here().folder, 'held.ndjson');
    const program = ['sh', '-c', cardwright('cards create --bin auto --amount 5 -q')];
    const ran = await exec(['--export', file, '--seed', '9'], program);
    expect(ran).toMatchObject({ code: 0 });
    expect((await here().run(['sandbox', 'import', file, '--yes'])).code).toBe(0);
    const { out } = await here().run(['--sandbox', 'cards', 'get', ran.out.trim(), '--json', '--fields', 'balance']);
    expect(JSON.parse(out)).toEqual({ balance: 5 });
    await writeFile(join(here().folder, 'mine.txt'), 'to keep\n');
    const refused = await exec(['--export', join(here().folder, 'mine.txt')], script('console.log(1)'));
    expect(refused).toMatchObject({ code: 14, out: '' });
    const nowhere = await exec(['--export', join(here().folder, 'none', 'held')], script('console.log(1)'));
    expect(nowhere).toMatchObject({ code: 2, out: '' });
    expect(nowhere.err).toContain('there is no such file or folder (ENOENT)');
    // Gone while the program ran: its end is said last.
    const folder = join(here().folder, 'going');
    await mkdir(folder);
    const source = `require('node:fs').rmSync(${JSON.stringify(folder)}, { recursive: true })`;
    const late = await exec(['--export', join(folder, 'held')], script(source));
    expect(late.code).toBe(2);
    expect(last(late)).toMatch(/^error: sandbox exec: the program ended with 0, but .*cannot write/);
    expect(await readFile(join(here().folder, 'mine.txt'), 'utf8')).toBe('to keep\n');
  });

  it('keeps the store of a failed program when asked to, where sandbox start opens it', async () => {
    const ran = await exec(['--keep-on-failure', '--seed', '5'], script('process.exit(1)'));
    expect(last(ran)).toContain('sandbox exec: the program ended with 1');
    expect(ran.code).toBe(1);
    const folder = /its store is kept in (\S+)/.exec(ran.err)?.[1] ?? '';
    const status = await here().run(['sandbox', 'status', '--json'], { env: { CARDWRIGHT_CONFIG_DIR: folder } });
    expect(JSON.parse(status.out)).toMatchObject({
      store: join(folder, 'data', 'sandbox', 'store.db'),
      ledger_ok: true,
    });
    const before = await leftOver();
    expect((await exec(['--keep-on-failure'], script(''))).code).toBe(0);
    expect(await leftOver()).toEqual(before);
    await rm(folder, { recursive: true });
  });

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
