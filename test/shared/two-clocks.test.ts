/** Machines whose clocks are wrong: every age that counts for money is by the clock of the database. */
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { capabilitiesIn } from '../../src/journal/capabilities.ts';
import type { Clock } from '../../src/platform/host.ts';
import { journalServer } from '../postgres/journal-server.ts';
import { missing } from '../postgres/server.ts';
import { random, skippingClock } from '../support/clocks.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { team } from './team.ts';

const without = missing() !== undefined;
const HOUR = 3_600_000;
const CREATE = 'cards create --bin auto --amount 5 --yes --json';
/** Nothing of a write is on its way for longer. */
const QUIET_MS = 150_000;

/** A clock that is wrong by so much; long waits are over at once and are remembered. */
function wrongBy(apart: number, waits: number[] = []): { readonly clock: Clock; readonly waits: number[] } {
  const clock = skippingClock();
  return {
    waits,
    clock: {
      ...clock,
      now: () => clock.now() + apart,
      sleep: async (ms, signal) => {
        if (ms <= 60_000 || ms > QUIET_MS) return clock.sleep(ms, signal);
        waits.push(ms);
      },
    },
  };
}

/** A create of which no request has arrived, and whose command has ended. */
async function lost(keys: 'honoured' | 'unknown') {
  const server = await journalServer();
  const t = await team(server);
  const proxy = await startFaultProxy({ target: t.sandbox.url });
  const through = { CARDWRIGHT_BASE_URL: proxy.url };
  const admin = await t.machine('postgres', through);
  expect((await admin.run(`journal init ${server.url('postgres')} --key`)).code).toBe(0);
  const ana = await t.machine('ana', through);
  const [account] = await server.sql<{ origin: string; print: string }>('select origin, print from account_key');
  if (keys === 'honoured') {
    const files = { platform: process.platform, random, warn: () => undefined };
    const place = { origin: account?.origin ?? '', mode: 'test', keyPrint: account?.print ?? '' } as const;
    const known = { 'cards.create': { key: 'honoured', ttl_ms: 24 * HOUR, at: 0 } } as const;
    await capabilitiesIn(join(ana.folder, 'state'), files).remember(place, known);
  }
  proxy.fail('POST', /\/cards$/, 'drop-before', 'drop-before', 'drop-before');
  expect((await ana.run(CREATE, wrongBy(0))).code).toBe(11);
  proxy.mend();
  const [op] = await server.sql<{ id: string }>('select id from op');
  return {
    server,
    t,
    proxy,
    ana,
    op: op?.id ?? '',
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await t[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

test.skipIf(without)('a key that is old by the database is not sent again by a machine that is behind', async () => {
  await using here = await lost('honoured');
  const { server, proxy, ana, op } = here;
  await server.sql(`update change set evidence = '{}', sent_at = sent_at - ${20 * HOUR}`);
  const before = proxy.posts().length;
  expect((await ana.run(`ops resume ${op} --json`, wrongBy(-20 * HOUR))).code).toBe(11);
  expect(proxy.posts()).toHaveLength(before);
});

test.skipIf(without)('a key that is young by the database is sent again, whatever the machine says', async () => {
  for (const apart of [-20 * HOUR, 20 * HOUR]) {
    await using here = await lost('honoured');
    const { server, ana, op, t } = here;
    await server.sql("update change set evidence = '{}'");
    expect([apart, (await ana.run(`ops resume ${op} --json`, wrongBy(apart))).code]).toEqual([apart, 0]);
    expect(await t.cards()).toHaveLength(1);
  }
});

test.skipIf(without)('sending again for a person waits by the database until nothing can be on its way', async () => {
  for (const apart of [-HOUR, HOUR]) {
    await using here = await lost('unknown');
    const { server, ana, op, t } = here;
    await server.sql("update change set evidence = '{}'");
    const { clock, waits } = wrongBy(apart);
    expect((await ana.run(`ops resume ${op} --resend-absent --yes --json`, { clock })).code).toBe(0);
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThan(QUIET_MS - 60_000);
    expect(await t.cards()).toHaveLength(1);
  }
});
