/** Operators who claim and end ops as fast as they can, each remembering what it was told. */
import { expect } from 'vitest';
import { followChain } from '../../src/audit/entry.ts';
import type { PostgresSession } from '../../src/postgres/client.ts';
import { connectJournal } from '../../src/team/connect.ts';
import { parseJournalUrl } from '../../src/team/journal-url.ts';
import { type Statements, statementsOver } from '../../src/team/statements.ts';
import { realClock } from '../support/clocks.ts';
import { done, ended, FACTS, hex, linesOf, next, OUTCOME, sent, wanted } from './test-account.ts';

export interface Told {
  /** Cents by op, of what was claimed, and of those what was ended. */
  readonly claimed: Map<string, number>;
  readonly ended: Map<string, number>;
  /** Claims that met the cap. */
  capped: number;
  /** Calls that were given up. */
  readonly failed: unknown[];
}

interface Place {
  readonly socket: string;
  readonly port: number;
  readonly database: string;
  readonly account: string;
}

/** One operator until `stop`; a call that is lost is made again, as a command does. */
export async function operate(role: string, place: Place, told: Told, stop: AbortSignal): Promise<void> {
  const url = parseJournalUrl(
    `postgres://${role}@${encodeURIComponent(place.socket)}:${place.port}/${place.database}`,
    'flag',
  );
  const dependencies = {
    clock: realClock,
    random: { bytes: (count: number) => new Uint8Array(count), fraction: Math.random },
    platform: process.platform,
    signal: new AbortController().signal,
  };
  await using journal = connectJournal(url, dependencies);
  await using second = connectJournal(url, dependencies);
  const working = { calls: statementsOver(journal), helping: statementsOver(second), account: place.account };
  while (!stop.aborted) await once(working, told).catch((error: unknown) => told.failed.push(error));
}

interface Working {
  readonly calls: Statements;
  /** Over a second connection. */
  readonly helping: Statements;
  readonly account: string;
}

async function once({ calls, helping, account }: Working, told: Told): Promise<void> {
  const op = wanted(account, 1 + Math.floor(Math.random() * 50));
  const answer = await calls.claim(op, linesOf(op.by, sent(1)), FACTS);
  if (answer.verdict === 'cap') {
    told.capped += 1;
    return;
  }
  expect(answer.verdict).toBe('claimed');
  told.claimed.set(op.op, op.cents);
  // Records of one op, hands on another: each locks what the other has, and neither may wait for the other.
  const [other = op.op] = [...told.claimed.keys()].slice(-3);
  const take = { account, op: other, by: hex(4), host: 'server', ttl_ms: 60_000, resume: false };
  const [, taken] = await Promise.all([
    calls.append(next(op, { counts: op.counts }), linesOf(op.by, sent(2))),
    helping.take(take, { ...FACTS, reason: 'to see who has it' }),
  ]);
  expect(['held', 'finished']).toContain(taken.verdict);
  const spent = Math.random() < 0.5 ? op.cents : 0;
  await calls.append(next(op, { n: 3, ...ended(spent) }), linesOf(op.by, done(1)), OUTCOME);
  told.ended.set(op.op, spent);
}

/** What was told is there, once; sums are exact, no cap is exceeded, and the chain is whole. */
export async function check(
  root: PostgresSession,
  account: string,
  { told, cap }: { told: Told; cap: number },
): Promise<number> {
  const rows = await root.call(
    `select o.op, o.state, o.reserved, o.spent from cardwright.op o
       join cardwright.account a on a.id = o.account and a.name = $1`,
    [account],
  );
  const ops = new Map(
    rows.map(([op, state, reserved, spent]) => [op, { state, reserved: Number(reserved), spent: Number(spent) }]),
  );
  for (const [op, cents] of told.claimed) expect(ops.get(op), op).toMatchObject({ reserved: cents });
  for (const [op, cents] of told.ended) expect(ops.get(op), op).toMatchObject({ state: 'finished', spent: cents });
  const counted = [...ops.values()].reduce(
    (sum, { state, reserved, spent }) => sum + (state === 'finished' ? spent : reserved),
    0,
  );
  const [[used] = []] = await root.call('select sum(held + spent) from cardwright.spend_day', []);
  expect(Number(used)).toBe(counted);
  expect(counted).toBeLessThanOrEqual(cap);
  const lines = (await root.call('select line from cardwright.audit order by seq', [])).map(([line]) => line ?? '');
  expect(followChain(lines).flaw).toBeUndefined();
  return ops.size;
}
