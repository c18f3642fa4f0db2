/** Lines of an explored op as the records that functions of the program read. */

import type { JournalRecord, StoredRecord } from '../../../src/journal/wal/records.ts';
import { type History, historyOf } from '../../../src/journal/wal/replay.ts';
import { type Line, TICK_MS } from './world.ts';

export function recordsOf(lines: readonly Line[]): readonly StoredRecord[] {
  return lines.map(({ t, by, at }) => ({ by: String(by), record: recordOf(t, at * TICK_MS) }));
}

function recordOf(t: Line['t'], at: number): JournalRecord {
  switch (t) {
    case 'RUN':
      return { t, pid: 1, start: '1', boot: 'explored', at };
    case 'SENT':
      return { t, row: 1, attempt: 1, at };
    case 'DONE':
      return { t, row: 1, via: 'answer', changed: true, id: 'card_1', at };
    case 'FAILED':
      return { t, row: 1, kind: 'insufficient_funds', message: 'refused', at };
  }
}

export function intentOf(want: number): string {
  return `po-${want}`;
}

/** Of an op of one row, which has the name of what is wanted. */
export function historyFrom(want: number, lines: readonly Line[]): History {
  const by = String(lines[0]?.by ?? 0);
  const plan: readonly JournalRecord[] = [
    {
      t: 'PLAN',
      version: 2,
      op: 'op_00000000000000000000000000',
      command: 'cards create',
      origin: 'https://api.example.com',
      profile: 'main',
      mode: 'live',
      key_print: '00000000',
      digest: intentOf(want),
      rows: 1,
      total_cents: 100,
      bulk: false,
      marker: true,
      capability: {},
      at: 0,
    },
    {
      t: 'ITEM',
      row: 1,
      attempt: 1,
      operation: 'cards.create',
      key: undefined,
      method: 'POST',
      path: '/cards',
      body: undefined,
      input: {},
      intent: intentOf(want),
    },
    { t: 'PLANNED' },
  ];
  const history = historyOf([...plan.map(record => ({ by, record })), ...recordsOf(lines)]);
  if (history === undefined) throw new Error('an op without a plan');
  return history;
}
