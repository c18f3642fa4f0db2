/** What the wallet says at the end of a run, where rows were sent again on nothing but a look. */
import { expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { rowsInMemory } from '../../src/journal/execution/row-index.ts';
import type { RunContext } from '../../src/journal/execution/run-context.ts';
import { type OtherOp, walletFindings } from '../../src/journal/execution/verify-wallet.ts';
import type { ItemRecord, PlanRecord } from '../../src/journal/wal/records.ts';
import { afterRecord, openRow, type RowHistory } from '../../src/journal/wal/replay.ts';

const OP = 'op_00000000000000000000000001';
const OTHER = 'op_00000000000000000000000002';
const AT = Date.parse('2026-11-20T14:00:00Z');

function row(number: number, amount: number, how: 'plain' | 'resent' | 'resent, unknown', operation = 'create') {
  const item = {
    t: 'ITEM',
    row: number,
    attempt: 1,
    operation: `cards.${operation}`,
    key: `${OP}.${number}.1`,
    input: operation === 'create' ? { bin_id: 'bin_1' } : { card_id: 'card_1' },
    amount,
    ...(operation !== 'create' && { card: 'card_1' }),
  } as unknown as ItemRecord;
  const sent = afterRecord(openRow(item), { t: 'SENT', row: number, attempt: 1, at: AT });
  const resent = how === 'plain' ? undefined : true;
  if (how === 'resent, unknown') {
    return afterRecord(sent, { t: 'AMBIG', row: number, reason: 'lost', resent_on_check: resent, at: AT });
  }
  const done = { t: 'DONE', row: number, via: 'answer', changed: true, resent_on_check: resent, at: AT } as const;
  return afterRecord(sent, done);
}

interface Case {
  readonly rows: readonly RowHistory[];
  /** Cents, before the run and now; nothing for a wallet that cannot be read. */
  readonly wallet: readonly [number, number?];
  readonly others?: readonly OtherOp[];
}

async function found({ rows, wallet: [before, now], others = [] }: Case) {
  const cents = (state: string) =>
    rows.filter(each => each.state === state).reduce((all, { item }) => all + (item.amount ?? 0), 0);
  const context = {
    plan: { op: OP, bulk: true, wallet: before } as PlanRecord,
    rowIndex: rowsInMemory(new Map(rows.map(each => [each.item.row, each]))),
    reader: {
      read: async () => {
        if (now === undefined) throw new CliError('unreachable', { message: 'no answer' });
        return { balance: now / 100 };
      },
    },
  } as unknown as RunContext;
  const isSettled = cents('unknown') === 0;
  const { objections, remarks } = await walletFindings(
    context,
    { moved: cents('done'), maybe: cents('unknown'), isSettled },
    async () => others,
  );
  return [objections.join(), remarks.join()];
}

const PLAIN = row(1, 2_500, 'plain');
const RESENT = row(2, 2_500, 'resent');

test('nothing to say of a wallet that adds up, or cannot be read', async () => {
  expect(await found({ rows: [PLAIN, RESENT], wallet: [10_000, 5_000] })).toEqual(['', '']);
  expect(await found({ rows: [PLAIN, RESENT], wallet: [10_000] })).toEqual(['', '']);
});

test('short by the amount of a row that was sent again: an objection that names it, and how to see its cards', async () => {
  const [objection] = await found({ rows: [PLAIN, RESENT], wallet: [10_000, 2_500] });
  expect(objection).toMatch(/\$25\.00 less than \$100\.00 before and the done rows explain: row 2 was sent again /);
  expect(objection).toMatch(/cardwright cards list --bin bin_1 --where 'created_at>=2026-11-20T13:50:00Z'$/);
});

test('short by less than that, or where no row was sent again: somebody else', async () => {
  for (const [rows, now] of [
    [[PLAIN, RESENT], 2_501],
    [[PLAIN, row(2, 2_500, 'plain')], 2_500],
    [[PLAIN, RESENT], 7_500],
  ] as const) {
    expect(await found({ rows, wallet: [10_000, now] })).toEqual([
      '',
      expect.stringContaining('somebody else has used'),
    ]);
  }
});

test('a wallet that has not moved at all was used by nobody', async () => {
  const told = await found({ rows: [PLAIN, RESENT], wallet: [10_000, 10_000] });
  expect(told).toEqual([
    '',
    expect.stringMatching(/: it has not moved at all\. Its reading may be behind: cardwright wallet$/),
  ]);
});

test('explained by another operation of this machine: no objection, unless more is missing', async () => {
  const others = [{ op: OTHER, cents: -2_500, maybe: [], untold: false }];
  const told = await found({ rows: [PLAIN, RESENT], wallet: [10_000, 2_500], others });
  expect(told).toEqual([
    '',
    expect.stringContaining(`that is what other commands of this journal have moved meanwhile: ${OTHER}`),
  ]);
  const [objection] = await found({ rows: [PLAIN, RESENT], wallet: [10_000, 0], others });
  expect(objection).toContain('row 2 was sent again');
});

test('an unknown row explains its amount, and may have been done twice itself', async () => {
  const rows = [PLAIN, row(2, 2_500, 'resent, unknown')];
  expect(await found({ rows, wallet: [10_000, 5_000] })).toEqual(['', '']);
  const [objection] = await found({ rows, wallet: [10_000, 2_500] });
  expect(objection).toContain('row 2 was sent again');
});

test('withdrawals move the other way', async () => {
  const rows = [row(1, 500, 'plain', 'withdraw'), row(2, 500, 'resent', 'withdraw')];
  const [objection] = await found({ rows, wallet: [10_000, 11_500] });
  expect(objection).toMatch(/\$5\.00 more than .* row 2 was sent again .*cardwright cards get card_1$/);
  expect(await found({ rows, wallet: [10_000, 10_500] })).toEqual(['', expect.stringContaining('somebody else')]);
});

const UNKNOWN = 'op_00000000000000000000000003';

test.each([
  [
    'the rest',
    [-1_000, -500],
    6_000,
    /meanwhile: \S+2, \S+3 \(\$25\.00 out by its journal\); \$15\.00 of it may be unknown rows of \S+3, which may have been done: cardwright ops resume \S+3$/,
  ],
  [
    'a part of it',
    [-1_000],
    6_000,
    /; \$10\.00 of it may be unknown rows of \S+3, .*ops resume \S+3; the rest was somebody else, or a row/,
  ],
  ['some of them', [-1_500, -1_000], 6_000, /; \$15\.00 of it may be unknown rows of \S+3, .*ops resume \S+3$/],
  ['nothing, where they are more', [-1_600], 6_000, /by its journal\); the rest was somebody else/],
  ['nothing, where they go the other way', [1_000], 6_000, /by its journal\); the rest was somebody else/],
  [
    'nothing, where done rows explain it all',
    [-1_000],
    7_500,
    /that is what other commands of this journal have moved meanwhile: \S+2$/,
  ],
] as const)('unknown rows of others may explain %s', async (_what, maybe, now, text) => {
  const others = [
    { op: OTHER, cents: -2_500, maybe: [], untold: false },
    { op: UNKNOWN, cents: 0, maybe, untold: false },
  ];
  const rows = [row(1, 500, 'plain')];
  expect(await found({ rows, wallet: [10_500, now], others })).toEqual(['', expect.stringMatching(text)]);
});

const KNOWN = { op: OTHER, maybe: [], untold: false };
const NOBODY = 'somebody else, or a row whose amount the journal does not know';

test.each([
  ['less than the difference', { ...KNOWN, cents: -300 }, `2 ($3.00 out by its journal); the rest was ${NOBODY}`],
  [
    'just the difference',
    { ...KNOWN, cents: -800 },
    'that is what other commands of this journal have moved meanwhile: ',
  ],
  [
    'just the difference, and something of which no amount is known',
    { ...KNOWN, cents: -800, untold: true },
    'that is what other commands of this journal have moved meanwhile: ',
  ],
  [
    'more than the difference',
    { ...KNOWN, cents: -2_500 },
    `2 ($25.00 out by its journal); $17.00 came in besides, by ${NOBODY}, or the reading is behind: cardwright wallet`,
  ],
  ['the other way', { ...KNOWN, cents: 500 }, `2 ($5.00 in by its journal); $13.00 went out besides, by ${NOBODY}`],
  [
    'amounts that nobody knows',
    { ...KNOWN, cents: 0, untold: true },
    `have used it meanwhile: ${OTHER}; the difference was ${NOBODY}`,
  ],
  [
    'more than the difference, where an unknown row may have given it back',
    { ...KNOWN, cents: -2_500, maybe: [1_700] },
    `$17.00 may have come in besides, by unknown rows of ${OTHER}, which may have been done: cardwright ops resume ${OTHER}`,
  ],
  [
    'the other way, where an unknown row may have taken some of it',
    { ...KNOWN, cents: 500, maybe: [-1_000] },
    `$10.00 may have gone out besides, by unknown rows of ${OTHER}, which may have been done: cardwright ops resume ${OTHER}; the rest was ${NOBODY}`,
  ],
] as const)('a wallet that is $8.00 short, where others have moved %s', async (_what, other, text) => {
  const [objections, remark] = await found({ rows: [PLAIN], wallet: [10_000, 6_700], others: [other] });
  expect(objections).toBe('');
  expect(remark).toContain('$8.00 less than $100.00 before and the done rows explain: ');
  expect(remark).toContain(text);
});

test('unknown rows of others alone are not told to have used the wallet', async () => {
  const others = [{ op: UNKNOWN, cents: 0, maybe: [-500], untold: false }];
  const [, remark] = await found({ rows: [PLAIN], wallet: [10_000, 7_000], others });
  expect(remark).toMatch(
    /other commands of this journal may have used it meanwhile: \S+3; \$5\.00 of it may be unknown rows/,
  );
});
