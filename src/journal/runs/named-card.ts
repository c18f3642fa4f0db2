/**
 * The card that a person names for a create. What is recorded stays, and the same command shows that card to everybody; so it is
 * held against its mark and its BIN, and against what the journal says of it (docs/design/reliability.md, section 6). Reads alone.
 */
import { fixedDifferences } from '../../contract/evidence.ts';
import { CliError } from '../../core/errors.ts';
import { cents, centsOf, dollars } from '../../core/money.ts';
import { resolveCommand } from '../../core/row-words.ts';
import { shellWord } from '../../core/shell-quote.ts';
import { timeOf } from '../execution/done-record.ts';
import { MARKER_KEY, opOfMarker, rowMarker } from '../execution/marker.ts';
import { readOrError } from '../store/read-ops.ts';
import type { ItemRecord } from '../wal/records.ts';
import type { History } from '../wal/replay.ts';
import { type CardClaim, claimsOf, contradict } from './claimed-cards.ts';
import type { JournalDependencies } from './dependencies.ts';
import { mayBeOf } from './same-account.ts';

type Values = Readonly<Record<string, unknown>>;

export interface NamedCard {
  readonly row: number;
  readonly card: string;
  /** As the service shows it; undefined where it could not be asked. */
  readonly shown: Values | undefined;
}

/**
 * Throws `guarded` for a card that cannot be the one of the row. Says what else is not as it was asked for: what a card holds
 * may have changed since.
 */
export async function refuseOtherCard(
  dependencies: JournalDependencies,
  history: History,
  named: NamedCard,
): Promise<void> {
  const { shown, row, card } = named;
  const { op } = history.plan;
  const item = history.rows.get(row)?.item;
  if (item === undefined) return;
  const mark = markOf(shown);
  if (mark === rowMarker(op, item)) return;
  refuseOfRow(history, named);
  if (mark !== undefined) throw otherCard(history, named, `${madeBy(card, mark)}, and not by row ${row} of ${op}`);
  if (shown !== undefined && fixedDifferences(shown, { bin_id: item.input['bin_id'] }).length > 0) {
    const says = `${card} is of ${String(shown['bin_id'])}, and row ${row} of ${op} asked for ${String(item.input['bin_id'])}`;
    throw otherCard(history, named, says);
  }
  const claim = await claimElsewhere(dependencies, history, named);
  if (claim !== undefined) throw claimedBy(history, named, claim);
  const differences = shown === undefined ? [] : differencesOf(shown, named, item);
  if (differences.length > 0) dependencies.notice(`warning: ${differences.join('; ')}`);
}

/** Throws `guarded` for the card of another row of the same op. */
export function refuseOfRow(history: History, named: NamedCard): void {
  for (const claim of claimsOf(history))
    if (claim.card === named.card && claim.row !== named.row) throw claimedBy(history, named, claim);
}

function markOf(shown: Values | undefined): string | undefined {
  const mark = (shown?.['metadata'] as Values | null | undefined)?.[MARKER_KEY];
  return typeof mark === 'string' ? mark : undefined;
}

function madeBy(card: string, mark: string): string {
  const made = opOfMarker(mark);
  return made === undefined
    ? `${card} has another mark, ${JSON.stringify(mark)}`
    : `${card} was made by row ${made.row} of ${made.op}, by its mark`;
}

/** What another op of the account says of the card; a journal that cannot be read says nothing. */
async function claimElsewhere(
  { store }: JournalDependencies,
  { plan, rows }: History,
  { row, card, shown }: NamedCard,
): Promise<CardClaim | undefined> {
  const item = rows.get(row)?.item;
  // The built-in sandbox gives its ids anew after a reset.
  if (plan.mode === 'sandbox' || item === undefined) return undefined;
  const madeAt = timeOf(shown?.['created_at']);
  const ours = { op: plan.op, row, card, key: item.key, marker: rowMarker(plan.op, item), madeAt };
  const isOfAccount = mayBeOf(store, plan);
  for await (const head of store.heads()) {
    const other = head.op === plan.op ? undefined : await head.plan();
    if (other?.capability['cards.create'] === undefined || !(await isOfAccount(other))) continue;
    const bytes = await store.read(head.op);
    // Most journals do not name the card; those need no reading.
    if (bytes === undefined || !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(card)) continue;
    const history = await readOrError(store, head.op);
    if (history === undefined || history instanceof CliError) continue;
    for (const claim of claimsOf(history)) if (claim.card === card && contradict(claim, ours)) return claim;
  }
  return undefined;
}

/** Clauses. */
function differencesOf(shown: Values, { row, card }: NamedCard, { amount, input }: ItemRecord): readonly string[] {
  const held = typeof shown['balance'] === 'number' ? centsOf(shown['balance']) : undefined;
  const { bin_id: _, metadata: __, ...asked } = input;
  return [
    ...(held === undefined || amount === undefined || held === amount
      ? []
      : [`${card} holds ${dollars(held)}, and row ${row} asked for ${dollars(cents(amount))}`]),
    ...fixedDifferences(shown, asked).map(each => each.replace(/^its /, `the `).replace(/ is /, ` of ${card} is `)),
  ];
}

function claimedBy(history: History, named: NamedCard, { op, row }: CardClaim): CliError {
  const refused = otherCard(history, named, `${named.card} is the card of row ${row} of ${op}`);
  return refused.with({ hint: `cardwright ops show ${op}` });
}

function otherCard({ plan: { op } }: History, { row, card }: NamedCard, says: string): CliError {
  return new CliError('guarded', {
    message: `${says}. Nothing was recorded`,
    notes: [
      'What is recorded stays, and the same command would show that card.',
      `Without its card: ${resolveCommand(op, [row], 'done')}`,
    ],
    hint: `cardwright cards get ${shellWord(card)}`,
    outcome: 'not_sent',
    op,
  });
}
