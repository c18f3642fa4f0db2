/** What an operation or a run would take from the wallet. */
import { type Cents, cents } from './money.ts';

export interface Spending {
  /** Of the costliest single operation. */
  readonly largest: Cents;
  readonly total: Cents;
  /** Cards that would be created. */
  readonly cards: number;
  readonly bins: ReadonlySet<string>;
  /** What it moves is known to nobody here. */
  readonly untold?: boolean;
}

interface SpendingRow {
  readonly operation: string;
  readonly amount?: Cents | undefined;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Creating and funding spend; money that comes back to the wallet does not. */
export function spendingOf(rows: Iterable<SpendingRow>): Spending {
  let [largest, total, cards] = [0, 0, 0];
  const bins = new Set<string>();
  let untold = false;
  for (const { operation, amount = 0, input } of rows) {
    if (operation === 'api.write') untold = true;
    if (operation !== 'cards.create' && operation !== 'cards.fund') continue;
    largest = Math.max(largest, amount);
    total = cents(total + amount);
    if (operation !== 'cards.create') continue;
    cards += 1;
    bins.add(String(input['bin_id']));
  }
  return { largest: cents(largest), total: cents(total), cards, bins, ...(untold && { untold }) };
}
