/** What funds that come at the same time cost on PostgreSQL: waits for the database, and statements. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Store } from '../../src/sandbox/store/sql.ts';
import { missing, type Server } from '../postgres/server.ts';
import { fakeService } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openAccount } from '../support/test-store.ts';

type Reached = Pick<Server, 'socket' | 'port'>;

/** Between a sandbox and its database. */
class Watched {
  /** How often the sandbox sent after the database had answered. */
  waits = 0;
  statements = 0;
  #isAnswered = true;

  sent(bytes: Buffer): void {
    if (this.#isAnswered) this.waits += 1;
    this.#isAnswered = false;
    for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
      if (bytes[at] === 'E'.charCodeAt(0)) this.statements += 1;
    }
  }

  answered(): void {
    this.#isAnswered = true;
  }

  begin(): void {
    [this.waits, this.statements] = [0, 0];
  }
}

/** A way to the server on which what passes is counted. */
async function watchedWay(watched: Watched) {
  const folder = await temporaryFolder();
  const to = async ({ socket, port }: Reached): Promise<Reached> => {
    const server = createServer(near => {
      const far = connect(join(socket, `.s.PGSQL.${port}`));
      const close = () => [near, far].map(end => end.destroy());
      for (const end of [near, far]) end.on('error', close).on('close', close);
      near.on('data', (bytes: Buffer) => {
        watched.sent(bytes);
        far.write(bytes);
      });
      far.on('data', (bytes: Buffer) => {
        watched.answered();
        near.write(bytes);
      });
    });
    await once(server.listen(join(folder.path, `.s.PGSQL.${port}`)), 'listening');
    server.unref();
    return { socket: folder.path, port };
  };
  return { to, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** Lets works go together, as many as are asked for. */
class Gate {
  waitsFor = 1;
  #held: (() => void)[] = [];

  around = (store: Store): Store => ({
    path: store.path,
    read: work => store.read(work),
    write: async (...call) => {
      await new Promise<void>(resolve => {
        this.#held.push(resolve);
        if (this.#held.length >= this.waitsFor) for (const go of this.#held.splice(0)) go();
      });
      return store.write(...call);
    },
    close: () => store.close(),
  });
}

it.skipIf(missing() !== undefined)('funds eight times with two waits for the database', async () => {
  const watched = new Watched();
  const gate = new Gate();
  await using way = await watchedWay(watched);
  const reaching = { way: way.to, mayPrepare: true };
  await using service = await fakeService({
    open: (request, account) => openAccount(request, account, reaching),
    around: gate.around,
  });
  const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
  const card = async () =>
    (await ask(service, { method: 'POST', path: '/cards', body: { bin_id, amount: 10 } })).json.id as string;
  const cards = [await card(), await card()] as const;
  const fund = async (id: string, idempotencyKey: string) => {
    const path = `/cards/${id}/fund`;
    const { status, json } = await ask(service, { method: 'POST', path, body: { amount: 1 }, idempotencyKey });
    return [status, json.card_balance];
  };
  await fund(cards[0], 'first');
  gate.waitsFor = 8;
  const funds = async (...which: readonly string[]) => {
    watched.begin();
    const keys = Array.from({ length: 8 }, (_, nth) => `${which.length} ${nth}`);
    const ends = await Promise.all(keys.map((key, nth) => fund(which[nth % which.length] ?? '', key)));
    return {
      balances: ends.map(end => end[1]).toSorted((a, b) => a - b),
      waits: watched.waits,
      statements: watched.statements,
    };
  };
  expect(await funds(cards[0])).toEqual({ balances: [12, 13, 14, 15, 16, 17, 18, 19], waits: 2, statements: 6 });
  expect(await funds(...cards)).toEqual({ balances: [11, 12, 13, 14, 20, 21, 22, 23], waits: 2, statements: 6 });
  expect(service.faults).toEqual([]);
});
