/** What is said of an unknown outcome: what was seen, how often, and which command does what. */
import { describe, expect, test } from 'vitest';
import { decisionNotes } from '../../src/cli/bulk/run-counts.ts';
import type { EvidenceCheck } from '../../src/journal/execution/evidence.ts';
import { unknownError } from '../../src/journal/execution/unknown-error.ts';
import type { ItemRecord, PlanRecord, RowRecord, ShownByCheck } from '../../src/journal/wal/records.ts';
import { afterRecord, openRow } from '../../src/journal/wal/replay.ts';

const OP = 'op_00000000000000000000000001';
const AT = Date.parse('2026-11-20T14:00:00Z');
const PLAN = { t: 'PLAN', op: OP, profile: 'test', mode: 'test', bulk: false, at: AT } as unknown as PlanRecord;

function item(operation: string, more: Partial<ItemRecord> = {}): ItemRecord {
  const input = operation === 'cards.create' ? { bin_id: 'bin_1' } : { card_id: 'card_1' };
  return { t: 'ITEM', row: 1, attempt: 1, operation, key: `${OP}.1.1`, input, amount: 2_500, ...more } as ItemRecord;
}

const SENT: RowRecord = { t: 'SENT', row: 1, attempt: 1, at: AT };
const LOST: RowRecord = { t: 'AMBIG', row: 1, reason: 'lost', at: AT };
const ANSWERED: RowRecord = { t: 'ACK', row: 1, reason: 'not read', shown: true, id: 'card_9', at: AT };
const looked = (after: number): RowRecord => ({ t: 'LOOKED', row: 1, found: 'none', at: AT + after });

interface Wishes {
  readonly operation?: string;
  readonly records?: readonly RowRecord[];
  readonly look?: Partial<EvidenceCheck>;
  readonly named?: Partial<ItemRecord>;
  readonly plan?: Partial<PlanRecord>;
}

function told({ operation = 'cards.create', records = [LOST], look, named, plan }: Wishes): string {
  const row = [SENT, ...records].reduce(afterRecord, openRow(item(operation, named)));
  const seen = look && { found: 'nothing' as const, text: 'looked', cards: [], ...look };
  const facts = { plan: { ...PLAN, ...plan }, row, look: seen, lookedAt: AT + 9_000, reason: 'lost' };
  const { message, notes = [] } = unknownError(facts).facts;
  return [message, ...notes].join('\n');
}

const verdict = (wishes: Wishes) => /^Verdict: (.*) \(/m.exec(told(wishes))?.[1];

describe('the verdict says what was seen', () => {
  test.each<[string, Wishes]>([
    ['no trace yet: the wallet has not moved', { look: { wallet: 'same', moved: { wallet: 0 } } }],
    ['probably done: the wallet holds $25.00 less, its amount', { look: { moved: { wallet: -2_500 } } }],
    ['cannot be determined: the wallet holds $10.00 less', { look: { moved: { wallet: -1_000 } } }],
    ['cannot be determined: the wallet holds $50.00 less, twice its amount', { look: { moved: { wallet: -5_000 } } }],
    [
      'probably done: the answer shows card card_9, and no reading does yet; the wallet holds $25.00 less, its amount',
      { records: [ANSWERED], look: { moved: { wallet: -2_500 } } },
    ],
    [
      'cannot be determined: the answer shows card card_9, and no reading does yet; the wallet has not moved',
      { records: [ANSWERED], look: { moved: { wallet: 0 } } },
    ],
    [
      'cannot be determined: the answer shows card card_9, and no reading does yet',
      { records: [ANSWERED], operation: 'cards.terminate', look: { found: 'nothing' } },
    ],
    ['no trace yet: neither the card nor the wallet has moved', fund('nothing', 0, 0)],
    [
      'cannot be determined: the card has not moved; the wallet holds $25.00 less, its amount',
      fund('unclear', 0, -2_500),
    ],
    [
      'probably done: the card holds $25.00 more, its amount; the wallet holds $25.00 less, its amount',
      fund('it', 2_500, -2_500),
    ],
    [
      'probably done: the card holds $25.00 less, its amount; the wallet holds $25.00 more, its amount',
      { ...fund('it', -2_500, 2_500), operation: 'cards.withdraw' },
    ],
  ])('%s', (text, wishes) => expect(verdict(wishes)).toBe(text));
});

function fund(found: EvidenceCheck['found'], card: number, wallet: number): Wishes {
  return { operation: 'cards.fund', look: { found, moved: { card, wallet } } };
}

describe('a trace that was seen is not forgotten when a later look tells less', () => {
  const earlier = (shown: ShownByCheck, after = 3_000): RowRecord => ({
    t: 'LOOKED',
    row: 1,
    found: 'seen',
    seen: shown,
    at: AT + after,
  });
  const shown = earlier({ found: 'it', card: 2_500, wallet: -2_500 });
  const told = 'the card holds $25.00 more, its amount; the wallet holds $25.00 less, its amount';

  test.each<[string, Wishes]>([
    [
      `probably done: at 2026-11-20T14:00:03Z ${told}; now the card holds $20.00 more; the wallet holds $25.00 less, its amount`,
      { ...fund('unclear', 2_000, -2_500), records: [LOST, shown] },
    ],
    // A purchase has taken it off the card.
    [
      `probably done: at 2026-11-20T14:00:03Z ${told}; now the card has not moved; the wallet holds $25.00 less, its amount`,
      { ...fund('unclear', 0, -2_500), records: [LOST, shown] },
    ],
    [
      `probably done: at 2026-11-20T14:00:03Z ${told}`,
      { operation: 'cards.fund', look: { found: 'unclear' }, records: [LOST, shown] },
    ],
    [
      'probably done: at 2026-11-20T14:00:03Z the wallet holds $25.00 less, its amount; now the wallet holds $35.00 less',
      { look: { moved: { wallet: -3_500 } }, records: [LOST, earlier({ found: 'nothing', wallet: -2_500 })] },
    ],
    [
      `cannot be determined: at 2026-11-20T14:00:03Z ${told}; now neither the card nor the wallet has moved`,
      { ...fund('nothing', 0, 0), records: [LOST, shown] },
    ],
    // What was seen before it was sent again says nothing of the second sending.
    [
      'cannot be determined: the card holds $50.00 more, twice its amount; the wallet holds $50.00 less, twice its amount',
      { ...fund('unclear', 5_000, -5_000), records: [LOST, shown, { ...SENT, at: AT + 5_000 } as RowRecord, LOST] },
    ],
  ])('%s', (text, wishes) => expect(verdict(wishes)).toBe(text));
});

test('a later process tells it from the journal alone', () => {
  const seen = { found: 'nothing', wallet: -2_500 } as const;
  const text = told({ records: [LOST, { t: 'LOOKED', row: 1, found: 'none; wallet', seen, at: AT }] });
  expect(text).toContain('Checked: none; wallet, at ');
  expect(text).toContain('Verdict: probably done: the wallet holds $25.00 less, its amount (1 check until ');
});

test.each<[number, Wishes]>([
  [3, { records: [LOST, looked(1_000), looked(3_000), looked(9_000)], look: {} }],
  // A refusal was looked behind six times before it was doubted.
  [7, { records: [{ ...LOST, looks: 6 } as RowRecord, looked(9_000)], look: {} }],
  // Who only looks writes nothing.
  [2, { records: [LOST, looked(1_000)], look: {} }],
])('%i checks are counted', (checks, wishes) => expect(told(wishes)).toContain(`(${checks} checks until `));

test('that it was sent again is told, with both times', () => {
  const again = { ...SENT, at: AT + 5_000 } as RowRecord;
  expect(told({ records: [LOST, again, LOST] })).toMatch(
    /was sent at 2026-11-20T14:00:00Z, and again at 2026-11-20T14:00:05Z under the same key, but no trustworthy/,
  );
});

describe('running the same command again', () => {
  test.each<[string, Wishes]>([
    ['--intent', { named: { intent: 'order-7' } }],
    ['--idempotency-key', { plan: { given_key: 'order-7' } }],
  ])('with %s is about this operation', (name, wishes) => {
    const text = told(wishes);
    expect(text).toContain(`The same command with the same ${name} is about this operation, and does nothing twice.`);
    expect(text).not.toContain('Do not run the command again');
  });

  test('without a name is another purchase', () => {
    expect(told({})).toContain('Do not run the command again: that is a new key and can charge the wallet twice.');
  });
});

describe('what sending again can do', () => {
  const resend = (keyHonoured: boolean) => {
    const row = [SENT, LOST].reduce(afterRecord, openRow(item('cards.create')));
    const { notes = [] } = unknownError({ plan: PLAN, row, reason: 'lost', leadsOn: 'resend', keyHonoured }).facts;
    return notes.find(each => each.includes('--resend-absent')) ?? '';
  };

  test('where the service is known to honour keys they may be forgotten by now', () => {
    expect([resend(true), decisionNotes(OP, [1], [{ row: 1, keyHonoured: true }]).at(-1)]).toEqual([
      expect.stringContaining('has forgotten the key by now'),
      expect.stringContaining('has forgotten these by now'),
    ]);
    expect(resend(true)).not.toContain('ignores keys');
  });

  test('where that is not known of every row they may be ignored', () => {
    const rows = [{ row: 1, keyHonoured: true }, { row: 2 }];
    expect([resend(false), decisionNotes(OP, [1, 2], rows).at(-1)]).toEqual([
      expect.stringContaining('ignores keys'),
      expect.stringContaining('ignores keys'),
    ]);
  });
});
