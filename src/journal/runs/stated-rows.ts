/**
 * Whether the rows of a plan are what its records say of them. Who may write to a shared journal could write any: caps, rules
 * and persons go by the amount that stands beside a request, and the service by the request.
 */
import { isDeepStrictEqual } from 'node:util';
import { NO_OVERRIDES, type Overrides } from '../../contract/overrides.ts';
import { readRequest } from '../../contract/read-request.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, dollars, sumCents } from '../../core/money.ts';
import { spendingOf } from '../../core/spending.ts';
import { MARKER_KEY, rowMarker } from '../execution/marker.ts';
import type { CountedSpending } from '../store/op-store.ts';
import { otherOperation } from '../wal/command-words.ts';
import { attemptKey } from '../wal/op-id.ts';
import type { ItemRecord, PlanRecord } from '../wal/records.ts';
import type { History } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { plannedOf } from './run.ts';

/** What is wrong with a plan, in words; undefined where all of it fits. */
export function planFlaw({ plan, rows, end }: History, overrides: Overrides): string | undefined {
  const amounts: Cents[] = [];
  for (const { item } of rows.values()) {
    const flaw = numberFlaw(item, plan) ?? rowFlaw(item, { overrides, isOver: end !== undefined });
    if (flaw !== undefined) return flaw;
    amounts.push(cents(item.amount ?? 0));
  }
  const other = otherOperation(
    plan.command,
    [...rows.values()].map(({ item }) => item.operation),
  );
  if (other !== undefined) return `its command is ${plan.command}, and it does ${other}`;
  if (rows.size !== plan.rows) return `it was begun with ${plan.rows} rows, and has ${rows.size}`;
  const total = sumCents(amounts);
  if (total === plan.total_cents) return undefined;
  return `it was begun for ${dollars(cents(plan.total_cents))}, and its rows are ${dollars(total)}`;
}

/** What the service, and a look for the effect, know a row by: its number, its mark and its key are those of this op. */
function numberFlaw({ row, attempt, chain, key, marker, operation, input }: ItemRecord, plan: PlanRecord) {
  if (!plan.bulk && row !== 1) return `it has a row ${row}`;
  const isGiven = !plan.bulk && plan.given_key !== undefined && key === plan.given_key;
  const mark = (input['metadata'] as Readonly<Record<string, unknown>> | undefined)?.[MARKER_KEY];
  const own = rowMarker(plan.op, { row, marker });
  const isMarked = operation === 'cards.create' ? mark === (plan.marker ? own : undefined) : true;
  const isPrefixed =
    marker === undefined || (plan.marker_prefix !== undefined && marker.startsWith(plan.marker_prefix));
  if (!isMarked || !isPrefixed) return `row ${row} has the mark of another one`;
  const isOwnKey = key === undefined || isGiven || key === attemptKey(plan.op, { row, chain }, attempt);
  return isOwnKey ? undefined : `row ${row} has the idempotency key of another one`;
}

/** What is wrong with what the caps count for a plan, in words. */
export function countedFlaw(
  { rows }: Pick<History, 'rows'>,
  { cents: held, told }: CountedSpending,
): string | undefined {
  const { total, largest, cards, bins } = spendingOf([...rows.values()].map(({ item }) => plannedOf(item)));
  if (held < total) return `the caps count ${dollars(cents(held))} for it, and its rows spend ${dollars(total)}`;
  if (told === undefined) return undefined;
  if (told.largest < largest)
    return `the caps count ${dollars(cents(told.largest))} at most, and a row spends ${dollars(largest)}`;
  if (told.cards < cards) return `the caps count ${told.cards} cards, and its rows make ${cards}`;
  const other = [...bins].find(bin => !told.bins.includes(bin));
  return other === undefined ? undefined : `the caps know nothing of the BIN ${other}`;
}

interface Judging {
  readonly overrides: Overrides;
  readonly isOver: boolean;
}

function rowFlaw(item: ItemRecord, { overrides, isOver }: Judging): string | undefined {
  const { row, operation, method, path, body, input, amount, card } = item;
  const asked = readRequest({ method, path, body }, overrides);
  if (operation === 'api.write') {
    const isTyped = input['method'] === method && input['path'] === path && input['body'] === body;
    return isTyped && asked === undefined ? undefined : `the request of row ${row} is another one than its record says`;
  }
  // The service may have had other names then.
  if (asked === undefined && isOver) return undefined;
  if (asked?.operation !== operation) return `the request of row ${row} is no ${operation}`;
  const sent = asked.input['amount'];
  if (sent !== input['amount'] || sent !== amount)
    return `row ${row} says ${inDollars(amount)}, and its request ${inDollars(sent)}`;
  if (isDeepStrictEqual(withoutAbsent(asked.input), withoutAbsent(input)) && asked.input['card_id'] === card)
    return undefined;
  return `the request of row ${row} asks for other things than its record says`;
}

function inDollars(amount: unknown): string {
  return typeof amount === 'number' ? dollars(cents(amount)) : 'no amount';
}

function withoutAbsent(input: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

/**
 * Throws `check_failed` for an op of a journal that others write to, where its records do not fit each other or what is counted
 * for it. What has ended sends nothing.
 */
export async function refuseMisstated(
  { store, overrides }: Pick<JournalDependencies, 'store' | 'overrides'>,
  history: History,
  counted?: CountedSpending,
): Promise<void> {
  if (store.handsOf === undefined || history.end !== undefined || history.denied !== undefined) return;
  const flaw = planFlaw(history, (await overrides?.()) ?? NO_OVERRIDES);
  const found = flaw ?? (counted === undefined ? undefined : countedFlaw(history, counted));
  if (found !== undefined) throw misstated(history.plan.op, found);
}

function misstated(op: string, flaw: string): CliError {
  return new CliError('check_failed', {
    message: `the records of ${op} do not fit each other: ${flaw}`,
    notes: [
      'Nothing was sent. cardwright writes no such records: tell an admin of the journal. Where the service has other names, use the profile that knows them.',
      `Give up what was never sent: cardwright ops resolve ${op} --as not-done --note "records do not fit"`,
    ],
    reason: 'plan_misstated',
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}
