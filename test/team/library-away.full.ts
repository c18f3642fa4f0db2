/**
 * A program whose database goes away before, around and behind its request. Real patience, 15 s a call: what the program sees,
 * that it ends, and that the same call afterwards gives the one card.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/library/client.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { cableTo, team } from './team.ts';

Object.assign(globalThis, { CARDWRIGHT_VERSION: '0.0.0-test' });

const CREATE = { bin_id: 'bin_1', amount: 10, label: 'ads' };
const MOST_MS = 25_000;

describe.skipIf(missing())('the database of a program is away', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  async function away() {
    const cable = await cableTo(here.server);
    const t = await team(here, { delayMs: 300 });
    const folder = await temporaryFolder();
    const journal = `postgres://ana@${encodeURIComponent(cable.folder)}:${cable.port}/${here.name}`;
    const around = { journal, journalAccount: t.at.account, journalFolder: folder.path };
    const client = createClient({ baseUrl: t.proxy.url, apiKey: t.key, ...around });
    const send = async () => {
      const began = performance.now();
      const ended = await client
        .send('cards.create', CREATE, { intent: 'po-1' })
        .then(card => ({ card: (card as { id: string }).id }))
        .catch((thrown: unknown) => ({ thrown }));
      expect(performance.now() - began).toBeLessThan(MOST_MS);
      return ended;
    };
    const counts = async () => [t.proxy.posts().length, (await t.cards()).length, await t.balance()];
    return {
      cable,
      t,
      send,
      counts,
      async [Symbol.asyncDispose]() {
        for (const each of [client, t, cable, folder]) await each[Symbol.asyncDispose]();
      },
    };
  }

  it.concurrent('before its request: refused, and nothing is sent', async () => {
    await using at = await away();
    await at.cable.cut();
    expect(await at.send()).toMatchObject({
      thrown: { name: 'CardwrightError', kind: 'guarded', outcome: 'not_sent' },
    });
    expect(await at.counts()).toEqual([0, 0, 100]);
    await at.cable.mend();
    expect(await at.send()).toEqual({ card: 'card_1' });
    expect(await at.counts()).toEqual([1, 1, 90]);
  });

  it.concurrent('while its request is on its way: unknown, and the same call gets the card', async () => {
    await using at = await away();
    at.t.proxy.fail('POST', /\/cards$/, 'late-answer');
    const sent = at.send();
    await at.t.proxy.posted(1);
    await at.cable.cut();
    expect(await sent).toMatchObject({
      thrown: { name: 'CardwrightError', kind: 'outcome_unknown', outcome: 'unknown' },
    });
    await at.cable.mend();
    expect(await at.send()).toEqual({ card: 'card_1' });
    expect(await at.counts()).toEqual([1, 1, 90]);
  });

  it.concurrent('behind its end: the card is there, also for the next call', async () => {
    await using at = await away();
    expect(await at.send()).toEqual({ card: 'card_1' });
    await at.cable.cut();
    expect(await at.send()).toMatchObject({ thrown: { kind: 'guarded', outcome: 'not_sent' } });
    await at.cable.mend();
    expect(await at.send()).toEqual({ card: 'card_1' });
    expect(await at.counts()).toEqual([1, 1, 90]);
  });
});
