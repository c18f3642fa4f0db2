/** Rows of a run chosen by what the cards are: `--where`, `--idle`. Chosen once; what was chosen is what is planned. */
import type { Item } from '../../contract/calls.ts';
import { CARD } from '../../contract/card.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { fromWholeList, type Reader } from '../../contract/service.ts';
import { violation } from '../../contract/violation.ts';
import { durationOf, instantOf, isoTime } from '../../core/durations.ts';
import { notSent, usage } from '../../core/errors.ts';
import { type Cents, cents, dollars, toCents, toUsd } from '../../core/money.ts';
import { inputDigest } from '../../journal/digest.ts';
import type { PlannedRow, RowOutcome } from '../../journal/types.ts';
import { printable } from '../../terminal/printable.ts';
import type { Progress } from '../../terminal/progress.ts';
import { allOf, type Test } from '../condition.ts';
import type { Context } from '../context.ts';
import { statesFor } from '../ids.ts';
import { pagesWithProgress } from '../listing.ts';
import { quote } from '../parsing/values.ts';
import { wholeCards } from '../recent-cards.ts';
import type { BulkInput, BulkOperation } from './flags.ts';
import { changeOf, type ReadRows, wrongRow, wrongRows } from './rows.ts';

type Card = Item<'cards.list'>;

/** Cards shown one by one before the question; a dry run shows every one. */
const SHOWN_CARDS = 20;

/**
 * Every card that meets the conditions and that the operation can act on, oldest first. Throws `usage` for conditions
 * that cannot be read, and for cards that need an amount outside the limits unless `--keep-going` leaves them out;
 * `contract_mismatch` for a list that may be incomplete.
 */
export async function selectRows(ctx: Context, operation: BulkOperation, input: BulkInput): Promise<ReadRows> {
  const { where = [], idle, to, amount, keepGoing = false } = input;
  const name = [...where, ...(idle === undefined ? [] : [`idle>=${idle}`])].join(' and ');
  checkAim(operation, input);
  const test = allOf(where, { shape: CARD, flag: '--where', now: () => ctx.api.serviceNow() });
  const { found, leftOut } = await matching(ctx, operation, test, idle);
  const lines: string[] = [];
  const rows: PlannedRow[] = [];
  const wrong: RowOutcome[] = [];
  let [there, frozen] = [0, 0];
  for (const card of found) {
    const moved = to === undefined ? amount : movedTo(operation, { card, to });
    if (moved === 0) {
      there += 1;
      continue;
    }
    const row = rows.length + wrong.length + 1;
    const text = moved === undefined ? undefined : amountFault(operation, moved);
    if (text !== undefined) {
      wrong.push(wrongRow(row, `${card.id}: ${text}`, card.id));
      continue;
    }
    const input = { card_id: card.id, ...(moved !== undefined && { amount: moved }) };
    rows.push({ ...changeOf(row, operation, input), ...(to !== undefined && { aim: to }) });
    if (moved !== undefined && card.status === 'frozen') frozen += 1;
    if (lines.length < SHOWN_CARDS) lines.push(cardLine(operation, card, moved));
  }
  if (wrong.length > 0 && !keepGoing) {
    const message = `${name}: ${wrong.length} of ${wrong.length + rows.length} cards cannot reach that balance`;
    const texts = wrong.map(({ error }) => error?.message ?? '');
    throw wrongRows(message, texts, rows.length > 0);
  }
  if (rows.length > lines.length)
    lines.push(`… and ${rows.length - lines.length} more${ctx.dryRun ? '' : ': --dry-run shows every one'}`);
  const counted = [
    `${found.length === 1 ? '1 card matches' : `${found.length || 'No'} cards match`} ${name}.`,
    ...(there === 0 || to === undefined ? [] : [aimReached(operation, there, to)]),
    ...(wrong.length === 0 ? [] : [`${wrong.length} cannot reach that balance and ${are(wrong.length)} left out.`]),
    ...(frozen === 0 ? [] : [`${frozen} of them ${are(frozen)} frozen.`]),
    ...(leftOut.length === 0 ? [] : [`${statesOf(leftOut)} ${are(leftOut.length)} left out.`]),
  ];
  return {
    name,
    found: [counted.join(' '), ...lines],
    rows,
    skipped: wrong,
    leftOut: leftOut.length,
    digest: inputDigest([{ operation, input: { where: [...where].sort(), idle, to, amount } }]),
    aimed: to !== undefined || amount === undefined,
  };
}

/** Throws `usage` where the words leave open what is to be moved, or say it twice. */
function checkAim(operation: BulkOperation, { to, amount }: BulkInput): void {
  if (!('body' in OPERATIONS[operation])) return;
  const see = `cardwright ${operation.replace('.', ' ')} --help`;
  if (to !== undefined && amount !== undefined) throw usage('--to and --amount do not go together', see);
  if (to === undefined && amount === undefined) throw usage('--to or --amount is needed beside --where or --idle', see);
}

/** Oldest first; `leftOut` are in a state that the operation does not start from. */
async function matching(ctx: Context, operation: BulkOperation, test: Test, idle: string | undefined) {
  const span = idle === undefined ? undefined : idleSpan(idle);
  const states = statesFor(operation) ?? statesFor('cards.terminate') ?? [];
  const cards = await wholeCards(ctx, 'A card that meets the conditions could be missing. Nothing was sent', test);
  // Known to the clock of the service only after an answer of it.
  const isIdle =
    span === undefined || cards.length === 0
      ? () => true
      : await idleCards(await ctx.api.reader(), ctx.ui.progress, ctx.api.serviceNow() - span);
  const oldestFirst = cards.toReversed().filter(isIdle);
  const starts = (card: Card) => states.includes(card.status);
  return { found: oldestFirst.filter(starts), leftOut: oldestFirst.filter(card => !starts(card)) };
}

/** `1 frozen and 3 terminated`. */
function statesOf(cards: readonly Card[]): string {
  const states = [...new Set(cards.map(({ status }) => status))];
  return states.map(state => `${cards.filter(({ status }) => status === state).length} ${state}`).join(' and ');
}

const are = (count: number) => (count === 1 ? 'is' : 'are');

/** Cents between the balance and the aim, none where it is reached. */
function movedTo(operation: BulkOperation, { card, to }: { readonly card: Card; readonly to: Cents }): Cents {
  const balance = toCents(card.balance);
  return cents(Math.max(0, operation === 'cards.fund' ? to - balance : balance - to));
}

/** What is wrong with an amount of the operation. */
export function amountFault(operation: BulkOperation, amount: Cents): string | undefined {
  const row = OPERATIONS[operation];
  const field = 'body' in row ? row.body.amount : undefined;
  const fault = field === undefined ? undefined : violation(field, toUsd(amount));
  return fault === undefined ? undefined : `amount ${fault}`;
}

/** `card_1  visa 6082  active  $5.00 -> $50.00  "ads"`. */
function cardLine(operation: BulkOperation, card: Card, moved: Cents | undefined): string {
  const balance = toCents(card.balance);
  const after = cents(operation === 'cards.fund' ? balance + (moved ?? 0) : balance - (moved ?? 0));
  const money = moved === undefined ? dollars(balance) : `${dollars(balance)} -> ${dollars(after)}`;
  const label = card.label ? [JSON.stringify(card.label)] : [];
  return `  ${[card.id, `${card.network} ${card.last4}`, card.status, money, ...label].map(printable).join('  ')}`;
}

function aimReached(operation: BulkOperation, count: number, to: Cents): string {
  const has = count === 1 ? '1 has' : `${count} have`;
  return `${has} ${dollars(to)} or ${operation === 'cards.fund' ? 'more' : 'less'} already.`;
}

/** The value of `--idle`, ms. Throws `usage`. */
export function idleSpan(text: string): number {
  const span = durationOf(text);
  if (span === undefined) throw usage(`--idle ${quote(text)} is not a length of time such as 30d`);
  return span;
}

/**
 * A test for cards that are not terminated, are older than `since`, ms UTC by the clock of the service, and have no transaction of any
 * kind at or after it; a decline counts. Throws `contract_mismatch` when the list of transactions does not come whole: a card could be taken for idle wrongly.
 */
export async function idleCards(reader: Reader, progress: Progress, since: number): Promise<Test> {
  const because = 'A card whose transaction is not seen would count as idle. Nothing was sent';
  const list = { reader, operation: 'transactions.list', input: { from: isoTime(since) }, because } as const;
  const used = await fromWholeList(list, async pages => {
    const ids = new Set<string>();
    for await (const { data } of pagesWithProgress(pages, { noun: 'transaction', progress })) {
      // A service that leaves `from` out of account sends older ones too; a time that cannot be read counts.
      for (const { card_id, created_at } of data) {
        if (isBefore(created_at, since)) continue;
        if (typeof card_id !== 'string')
          throw notSent(
            'contract_mismatch',
            'a transaction does not name its card, so idle cards cannot be determined. Nothing was sent',
          );
        ids.add(card_id);
      }
    }
    return ids;
  });
  return ({ id, status, created_at }) =>
    status !== 'terminated' && isBefore(created_at, since) && !used.has(String(id));
}

/** False for a time that is missing or cannot be read. */
function isBefore(time: unknown, since: number): boolean {
  return (instantOf(time) ?? Number.NaN) < since;
}
