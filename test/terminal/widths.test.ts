/** Every listing at five widths: no line is wider than the screen, and what a row is about is never lost. */
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { CHALLENGE_COLUMNS } from '../../src/commands/3ds/challenges.ts';
import { AUDIT_COLUMNS } from '../../src/commands/audit/audit.ts';
import { BIN_COLUMNS } from '../../src/commands/bins/bins.ts';
import { CARD_COLUMNS } from '../../src/commands/cards/cards.ts';
import { OP_COLUMNS } from '../../src/commands/ops/ops.ts';
import { PROFILE_COLUMNS } from '../../src/commands/profiles/profiles.ts';
import { DELIVERY_COLUMNS } from '../../src/commands/sandbox/deliveries.ts';
import { FAULT_COLUMNS } from '../../src/commands/sandbox/faults.ts';
import { SNAPSHOT_COLUMNS } from '../../src/commands/sandbox/snapshots.ts';
import { TRANSACTION_COLUMNS } from '../../src/commands/tx/transactions.ts';
import { RECEIVED_COLUMNS } from '../../src/commands/webhooks/listen.ts';
import { WEBHOOK_COLUMNS } from '../../src/commands/webhooks/subscriptions.ts';
import type { Column, Presentation, Row } from '../../src/terminal/view.ts';
import { isWhole } from '../support/whole.ts';
import { inBatches, show, TERMINAL } from './cards.ts';

const TABLES: Readonly<Record<string, readonly Column[]>> = {
  card: CARD_COLUMNS,
  transaction: TRANSACTION_COLUMNS,
  challenge: CHALLENGE_COLUMNS,
  webhook: WEBHOOK_COLUMNS,
  BIN: BIN_COLUMNS,
  operation: OP_COLUMNS,
  entry: AUDIT_COLUMNS,
  profile: PROFILE_COLUMNS,
  delivery: DELIVERY_COLUMNS,
  fault: FAULT_COLUMNS,
  snapshot: SNAPSHOT_COLUMNS,
  event: RECEIVED_COLUMNS,
};
const WIDTHS = [40, 60, 80, 120, 200];
/** What a row is, how it stands and what it is worth. */
const ESSENTIAL = /^(?:id|op|name|number|seq|status|state|amount|balance)$/;

const HOSTILE = fc
  .array(
    fc.constantFrom(
      ...[
        '広告',
        'カード',
        '👨‍👩‍👧',
        '🇩🇪',
        'e\u0301',
        'ü',
        '\u202e',
        '\x1b[2J',
        '\x1b]0;x\x07',
        '\x9b',
        '\r',
        '\t',
        '\n',
        '\u200b',
      ],
      ...[' ', 'a long word', 'x'.repeat(30), '-', '{', '"'],
    ),
    { maxLength: 12 },
  )
  .map(parts => parts.join(''));

/** Short enough for every screen, as ids and words of a service are. */
function plainValue(column: Column, index: number): unknown {
  if (column.kind === 'money') return 1234.5 + index;
  if (column.kind === 'integer' || column.kind === 'number' || column.kind === 'percent') return index + 1;
  if (column.kind === 'boolean') return index % 2 === 0;
  if (column.kind === 'time') return '2026-11-20T14:03:11Z';
  if (column.kind === 'id') return `${column.field.slice(0, 4)}_${'7q2w4xk5m6n3p2r7t4v5y6z'}${index}`;
  return ESSENTIAL.test(column.field) || column.kind === 'word' ? 'active' : undefined;
}

function rowOf(columns: readonly Column[], texts: readonly string[], index: number): Row {
  const value = (column: Column, at: number) => plainValue(column, index) ?? texts[at % texts.length];
  return Object.fromEntries(columns.map((column, at) => [column.field, value(column, at)]));
}

function listed(noun: string, rows: readonly Row[]): Presentation {
  const columns = TABLES[noun] ?? [];
  return { noun, columns, listing: { batches: inBatches(rows), page: () => ({}) } };
}

/** The cells of a line that no blank divides; ids may be longer than a narrow screen and are never broken. */
const unbroken = (line: string) =>
  Math.max(0, ...line.split(' ').map(word => (/^[!-~]*$/.test(word) ? word.length : 0)));

describe.each(Object.keys(TABLES))('%s', noun => {
  const columns = TABLES[noun] ?? [];
  const wraps = columns.some(({ shrink }) => shrink === 'wraps');
  // What happened to a card says which card before it says its own number.
  const isOfCard = noun === 'entry';
  const isEssential = ({ field, wideOnly }: Column) =>
    !wideOnly && (isOfCard && /^(?:id|seq|card_id)$/.test(field) ? field === 'card_id' : ESSENTIAL.test(field));

  test.each(isWhole ? [40, 60, 80, 100, 140] : [80])(
    '-o wide shows at least what the table shows, %i columns wide',
    async screen => {
      const rows = ['広告 campaign', 'x'.repeat(30)].map((text, index) => rowOf(columns, [text], index));
      const titles = async (format: 'table' | 'wide') => {
        const { out } = await show(listed(noun, rows), { ...TERMINAL, columns: screen, settings: { format } });
        const [first = ''] = out.split('\n');
        return first.includes(' of ') ? [] : first.split(/ +/);
      };
      expect(await titles('wide')).toEqual(expect.arrayContaining(await titles('table')));
    },
  );

  test.each(isWhole ? WIDTHS : [40, 120])('fits %i columns', async width => {
    await fc.assert(
      fc.asyncProperty(fc.array(HOSTILE, { minLength: 1, maxLength: 4 }), async texts => {
        const rows = texts.map((_, index) => rowOf(columns, texts.slice(index), index));
        const { out } = await show(listed(noun, rows), { ...TERMINAL, columns: width });
        for (const line of out.split('\n')) {
          // The last word of a last column that wraps stays whole, so that it can be copied.
          const folded = wraps ? line.replace(/ \S*$/, '') : line;
          // A word that fits no line of its own stays behind its name.
          if (unbroken(line) + 2 <= width) expect(stringWidth(folded)).toBeLessThanOrEqual(width);
          expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e\u200b]/);
        }
        for (const row of rows) {
          for (const { field, kind, shortTo } of columns.filter(column => isEssential(column))) {
            const whole = kind === 'money' ? `$${(row[field] as number).toLocaleString('en-US')}0` : String(row[field]);
            // A short id holds what is the same in all of these, and the whole one more.
            const text = shortTo === undefined ? whole : whole.slice(0, whole.indexOf('_') + 1 + shortTo);
            expect(out).toContain(text);
          }
        }
      }),
      { numRuns: 12 },
    );
  });
});
