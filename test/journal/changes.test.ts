/** What is in memory follows what is committed, and never goes before it. */
import { expect, test } from 'vitest';
import { markSent, settle } from '../../src/journal/changes.ts';
import type { Database, Sql } from '../../src/journal/database.ts';
import type { Change, Op } from '../../src/journal/records.ts';

const full: Database['grouped'] = async work => {
  await work({
    now: async () => 1_000,
    all: async () => [{ epoch: 1, state: 'open', given_key: null }],
    run: async () => 1,
  } as never);
  throw new Error('disk full at COMMIT');
};
const held = { database: { grouped: full } as Database, self: { process: 'p' }, op: { id: 'op_1', epoch: 1 } as Op };

test('a change whose outcome could not be committed stays what the journal says', async () => {
  const change = { op: 'op_1', n: 1, operation: 'cards.fund', state: 'sent', attempts: 1 } as Change;
  await expect(settle(held as never, change, { state: 'done', evidence: { via: 'answer' } })).rejects.toThrow(
    'disk full',
  );
  expect(change.state).toBe('sent');
});

test('a change that could not be marked as sent was not', async () => {
  const change = { op: 'op_1', n: 1, operation: 'cards.fund', state: 'planned', attempts: 0 } as Change;
  await expect(markSent(held as never, change)).rejects.toThrow('disk full');
  expect([change.state, change.attempts]).toEqual(['planned', 0]);
});

test('of two that hold an op one after the other only the later writes, also within one transaction', async () => {
  const tx = {
    now: async () => 1_000,
    all: async () => [],
    run: async ({ texts, values }: Sql) => (texts[0]?.startsWith('update op') && values.at(-1) !== 2 ? 0 : 1),
  };
  const database = { grouped: (work: (shared: typeof tx) => Promise<unknown>) => work(tx) };
  const sent = (epoch: number, n: number) =>
    markSent(
      { database, self: { process: 'p' }, op: { id: 'op_1', epoch } } as never,
      { op: 'op_1', n, operation: 'cards.fund', state: 'planned', attempts: 0 } as Change,
    );
  await sent(2, 1);
  await expect(sent(1, 2)).rejects.toMatchObject({ facts: { reason: 'taken_over' } });
});
