import { request as ask, createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Between, type World, world } from '../support/world.ts';

/** A service that loses records: what it would list passes `keep` first. */
function losing(keep: (record: { readonly id: string; readonly type: string }) => boolean) {
  return async (sandbox: World['sandbox'], folder: string): Promise<Between> => {
    const socketPath = join(folder, 'losing.sock');
    const server = createServer((request, response) => {
      const { method, url = '', headers } = request;
      const onward = ask({ socketPath: sandbox.socketPath, method, path: url, headers }, answer => {
        const parts: Buffer[] = [];
        answer.on('data', part => parts.push(part));
        answer.on('end', () => {
          const body = Buffer.concat(parts);
          const isList = answer.statusCode === 200 && /\/transactions(?:\?|$)/.test(url);
          const { 'content-length': _, 'transfer-encoding': __, ...rest } = answer.headers;
          response.writeHead(answer.statusCode ?? 502, rest);
          response.end(isList ? without(body.toString(), keep) : body);
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

function without(text: string, keep: (record: { id: string; type: string }) => boolean): string {
  const { data, meta } = JSON.parse(text) as { data: { id: string; type: string }[]; meta: { total: number } };
  const left = data.filter(keep);
  return JSON.stringify({ data: left, meta: { ...meta, total: meta.total - (data.length - left.length) } });
}

describe('an account that does not add up', () => {
  it('a settlement that is not listed is named to the cent, with its card and what to do', async () => {
    await using here = await world({ between: losing(({ type }) => type !== 'settlement') });
    await here.run('cards create --bin bin_1 --amount 60 --label saas -q');
    await here.run('cards create --bin bin_1 --amount 40 --label ads -q');
    expect((await here.run('reconcile --jq .verdict')).out).toBe('baseline\n');
    await here.run('sandbox simulate authorize --card card_1 --amount 28 -q');
    await here.run('sandbox simulate settle txn_1 -q');
    const told = await here.run('reconcile -o table');
    expect(told.code).toBe(15);
    expect(told.out).toMatch(/unexplained: \$28\.00/);
    expect(told.out).toMatch(
      /x \d{4} saas {2}-28\.00 {2}a settlement of \$28\.00 is missing .* \(txn_1\)\n {2}cardwright mirror sync --full/,
    );
    expect(told.err).toMatch(/error: \$28\.00 unexplained at .*\n {2}try: cardwright mirror sync --full/);
    // From the same base again: nothing is forgotten by asking twice.
    const again = JSON.parse((await here.run('reconcile --json')).out);
    expect(again.findings).toMatchObject([
      { class: 'record_missing', candidates: ['card_1'], amount: -28, wrong: true },
    ]);
    expect(again.wallet.residual).toBe(0);
  });

  it('another spender is named, and is a failure only for who is alone', async () => {
    await using here = await world();
    await here.run('cards create --bin bin_1 --amount 60 --label ads -q');
    await here.run('reconcile');
    const env = { CARDWRIGHT_CONFIG_DIR: join(here.folder, 'elsewhere') };
    await here.run('cards fund card_1 --amount 5 --yes -q', { env });
    await here.run('cards create --bin bin_1 --amount 20 --yes -q', { env });
    const alone = await here.run('reconcile --sole-operator -o table');
    expect(alone.code).toBe(15);
    expect(alone.out).toMatch(
      /x \d{4} ads {2}5\.00 {2}funded \$5\.00 by another spender\n {2}cardwright cards get card_1\n/,
    );
    const told = await here.run('reconcile -o table');
    expect(told.code).toBe(0);
    expect(told.out).toMatch(/ balanced /);
    expect(told.out).toMatch(/! \d{4} {2}20\.00 {2}created with \$20\.00 by another spender; it carries our mark/);
    // Told once: it is part of the new base.
    expect(JSON.parse((await here.run('reconcile --json')).out)).toMatchObject({ verdict: 'balanced', findings: [] });
  });
});
