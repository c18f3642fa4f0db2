import { request as ask, createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Between, type World, world } from '../support/world.ts';

type Answers = Readonly<Record<string, unknown>>;

/** A service that answers otherwise: what it would say to this path passes `change` first. */
function saying(path: RegExp, change: (answer: Answers) => Answers) {
  return async (sandbox: World['sandbox'], folder: string): Promise<Between> => {
    const socketPath = join(folder, 'between.sock');
    const server = createServer((request, response) => {
      const { method, url = '', headers } = request;
      const onward = ask({ socketPath: sandbox.socketPath, method, path: url, headers }, answer => {
        const parts: Buffer[] = [];
        answer.on('data', part => parts.push(part));
        answer.on('end', () => {
          const body = Buffer.concat(parts);
          const isMeant = answer.statusCode === 200 && path.test(url);
          const { 'content-length': _, 'transfer-encoding': __, ...rest } = answer.headers;
          response.writeHead(answer.statusCode ?? 502, rest);
          response.end(isMeant ? JSON.stringify(change(JSON.parse(body.toString()))) : body);
        });
      });
      request.pipe(onward);
    });
    await new Promise<void>(done => server.listen(socketPath, done));
    return {
      socketPath,
      async close() {
        server.closeAllConnections();
        await new Promise<void>(done => void server.close(() => done()));
      },
    };
  };
}

const LISTED = /\/transactions(?:\?|$)/;
const WALLET = /\/wallet(?:\?|$)/;

/** A service that loses records. */
function losing(keep: (record: { readonly type: string }) => boolean) {
  return saying(LISTED, answer => {
    const { data, meta } = answer as { data: { type: string }[]; meta: { total: number } };
    const left = data.filter(keep);
    return { data: left, meta: { ...meta, total: meta.total - (data.length - left.length) } };
  });
}

describe('an account that does not add up', () => {
  it('a settlement that is not listed is named to the cent, with its card and what to do', async () => {
    await using here = await world({ between: losing(({ type }) => type !== 'settlement') });
    await here.run('cards create --bin bin_1 --amount 60 --label saas -q');
    await here.run('cards create --bin bin_1 --amount 40 --label ads -q');
    expect((await here.run('books reconcile --jq .verdict')).out).toBe('baseline\n');
    await here.run('sandbox simulate authorize --card card_1 --amount 28 -q');
    await here.run('sandbox simulate settle txn_1 -q');
    const told = await here.run('books reconcile -o table');
    expect(told.code).toBe(15);
    expect(told.out).toMatch(/unexplained: \$28\.00/);
    expect(told.out).toMatch(
      /x \d{4} saas {2}-28\.00 {2}a settlement of \$28\.00 is missing .* \(txn_1\)\n {2}cardwright books sync --full/,
    );
    expect(told.err).toMatch(/error: \$28\.00 unexplained at .*\n {2}try: cardwright books sync --full/);
    // From the same base again: nothing is forgotten by asking twice.
    const again = JSON.parse((await here.run('books reconcile --json')).out);
    expect(again.findings).toMatchObject([
      { class: 'record_missing', candidates: ['card_1'], amount: -28, wrong: true },
    ]);
    expect(again.wallet.residual).toBe(0);
  });

  it('a month stands as its exact cut knew it, when a record of it is shown with another amount later', async () => {
    let lies = false;
    const shown = (record: { type: string }) => (record.type === 'settlement' ? { ...record, amount: 9 } : record);
    const between = saying(LISTED, answer => {
      const { data, meta } = answer as { data: { type: string }[]; meta: object };
      return { data: lies ? data.map(shown) : data, meta };
    });
    await using here = await world({ between, wallet: 500 });
    const done = async (line: string, code = 0) => {
      const ran = await here.run(line);
      expect({ line, code: ran.code }).toEqual({ line, code });
      return ran.out;
    };
    await done('cards create --bin bin_1 --amount 60 -q');
    await done('sandbox simulate authorize --card card_1 --amount 28 -q');
    await done('sandbox simulate settle txn_1 -q');
    await done('books reconcile -q');
    await done('sandbox clock set frozen --at 2026-12-01T10:00:00Z -q');
    await done('books reconcile -q');
    const month = await done('books statement --period 2026-11 --json --jq .data');
    expect(month).toContain('-28');
    lies = true;
    await done('sandbox clock advance --by 1h -q');
    await done('books sync --full -q');
    await done('books sync --full -q');
    await done('books reconcile -q', 15);
    expect(await done('books statement --period 2026-11 --json --jq .data')).toBe(month);
  });

  it('an account that moves at each reading has no verdict, and what moved is named', async () => {
    let read = 0;
    const moving = saying(WALLET, wallet => {
      read += 1;
      return { ...wallet, balance: 900 - read, total_spent: read };
    });
    await using here = await world({ between: moving });
    const pauses: number[] = [];
    const told = await here.run('books reconcile --wait-timeout 5s', { onPause: ms => void pauses.push(ms) });
    expect(told).toMatchObject({ code: 8, out: '' });
    expect(told.err).toMatch(/the account moved at each reading for 5 s: balance, total_spent; there is no verdict/);
    expect(told.err).toContain('try: cardwright books reconcile --wait-timeout 10m');
    // The second one is cut where a slow machine has used up the time.
    expect(pauses[0]).toBe(1000);
    expect(pauses[1]).toBeLessThanOrEqual(2000);
    // Nothing of it is a cut.
    expect((await here.run("books query 'select count(*) as n from cuts' --offline --jq .data[0].n")).out).toBe('0\n');
  });

  it('the copy is judged without a request, unless the account moved while it was synced', async () => {
    let [read, isMoving] = [0, false];
    const between = saying(WALLET, wallet => {
      read += 1;
      return isMoving ? { ...wallet, pending_deposits: read } : wallet;
    });
    await using here = await world({ between });
    expect((await here.run('books reconcile --offline')).code).toBe(12);
    await here.run('cards create --bin bin_1 --amount 60 --label ads -q');
    await here.run('books reconcile');
    await here.run('cards fund card_1 --amount 5 --yes -q');
    // Neither the fund nor its row is in the copy.
    const before = JSON.parse((await here.run('books reconcile --offline --json')).out);
    expect(before).toMatchObject({ verdict: 'balanced', requests: 0, cards: [], as_of: expect.any(String) });
    await here.run('books sync');
    const after = JSON.parse((await here.run('books reconcile --offline --json')).out);
    expect(after).toMatchObject({ verdict: 'balanced', requests: 0, cards: [{ card_id: 'card_1', funded: 5 }] });
    isMoving = true;
    await here.run('books sync');
    const told = await here.run('books reconcile --offline');
    expect(told).toMatchObject({ code: 8, out: '' });
    expect(told.err).toMatch(/the account moved while the mirror was synced.*\n.*try: cardwright books sync/);
  });
});
