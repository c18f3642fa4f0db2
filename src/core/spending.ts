/** What an operation or a run would take from the wallet, and what a limit of the profile holds for it. */
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

/** An amount held against the limit of the day. What is never released stays counted until the day is over. */
export interface SpendHold {
  /** The operation it is for: from then on the journal knows what was spent, and a resume is not counted twice. */
  nameOp(op: string): Promise<void>;
  /** Ends it; `unspent` is what certainly did not leave the wallet. */
  end(unspent: Cents): Promise<void>;
  /** Nothing was begun: what was held before is held again, of an op that another process works on too. */
  abandon(): Promise<void>;
}

/** Throws `guarded` (14) naming limit, used and asked; nothing was sent then. `resumed` is an op taken up again. */
export type HoldSpending = (spending: Spending, resumed?: string) => Promise<SpendHold>;

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
