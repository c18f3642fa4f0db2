/**
 * A card that was found by its marker. The marker of an apply follows from the name in its file, so that another apply may
 * have made the card from a file that says something else.
 */
import { fixedDifferences } from '../../contract/evidence.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, centsOf, dollars } from '../../core/money.ts';
import type { DoneRecord } from '../wal/records.ts';
import type { RunContext } from './run-context.ts';

type Values = Readonly<Record<string, unknown>>;

/** What is written down of a card that is not as it was asked for; empty where it is, or nothing can be compared. */
export async function foundOtherwise(
  context: RunContext,
  number: number,
  card: Values,
): Promise<Pick<DoneRecord, 'otherwise' | 'amount'>> {
  const { item } = context.row(number);
  const amount = await otherAmount(context, number, card);
  const differences = [
    ...fixedDifferences(card, item.input),
    ...(amount === undefined
      ? []
      : [`it holds ${dollars(amount)}, and ${dollars(cents(item.amount ?? 0))} was asked for`]),
  ];
  if (differences.length === 0) return {};
  const made = item.chain === undefined ? 'was made by this operation' : 'was made by another apply';
  return { otherwise: `${String(card['id'])} ${made}, but ${differences.join('; ')}`, amount };
}

/** What the card holds where no purchase explains that this is not what was asked for; cents. */
async function otherAmount(context: RunContext, number: number, card: Values): Promise<Cents | undefined> {
  const { item } = context.row(number);
  const { id, balance } = card;
  const held = typeof balance === 'number' ? centsOf(balance) : undefined;
  // The marker of an op of its own is that of one body alone.
  if (item.chain === undefined || held === undefined || held === item.amount || typeof id !== 'string')
    return undefined;
  try {
    const { reader } = context.aside;
    for await (const { data } of reader.pages('transactions.list', { card_id: id })) {
      if (data.some(({ type }) => type !== 'decline')) return undefined;
    }
    return held;
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.kind !== 'internal') return undefined;
    throw thrown;
  }
}
