/** An account at one instant: wallet, balances, sums of records and of own moves. */
import type { CardSums } from './purchases.ts';
import type { CardRow, CheckpointCardRow, CheckpointRow, CountingRules, MoveRow, WalletRow } from './rows.ts';

/** A card at an instant; all sums are from its beginning, integer cents. */
export interface CardPosition {
  readonly card_id: string;
  /** `terminated` also for a card that the service no longer knows. */
  readonly status: string;
  readonly balance: number;
  readonly settled: number;
  readonly refunded: number;
  /** Upper bound of what open authorizations hold. */
  readonly holds: number;
  readonly created: number;
  readonly funded: number;
  readonly withdrawn: number;
  /** 1: `holds` of the first checkpoint may be too high. 2: nothing bounds them. */
  readonly unverified: 0 | 1 | 2;
  /** Nothing bounds what it holds now. */
  readonly unbounded: boolean;
}

export interface Position {
  readonly at: number;
  readonly wallet: number;
  readonly deposited: number;
  readonly spent: number;
  readonly cards: ReadonlyMap<string, CardPosition>;
  /** What `hold_released` on terminated cards explained of the wallet so far. */
  readonly carried: number;
}

/** Before anything happened: what the first checkpoint is compared with. */
export const NOTHING_YET: Position = { at: 0, wallet: 0, deposited: 0, spent: 0, cards: new Map(), carried: 0 };

/** All counting rules that a service may have, the defaults first, then those with fewest deviations. */
export const ALL_RULES: readonly CountingRules[] = (['net', 'gross'] as const)
  .flatMap(total_spent =>
    (['all', 'active'] as const).flatMap(cards_total_balance =>
      (['available', 'with_holds'] as const).map(balance => ({ total_spent, cards_total_balance, balance })),
    ),
  )
  .sort((a, b) => deviations(a) - deviations(b));

function deviations({ total_spent, cards_total_balance, balance }: CountingRules): number {
  return Number(total_spent !== 'net') + Number(cards_total_balance !== 'all') + Number(balance !== 'available');
}

export interface Observed {
  readonly at: number;
  readonly wallet: WalletRow;
  readonly cards: readonly Pick<CardRow, 'card_id' | 'status' | 'balance_cents' | 'gone_at'>[];
  readonly records: ReadonlyMap<string, CardSums>;
  readonly moves: readonly MoveRow[];
  /** Own rows, `<op>.<row>`, that count as done whatever the journal says, with their cards. */
  readonly counted: ReadonlyMap<string, string>;
}

export const rowName = ({ op, row }: Pick<MoveRow, 'op' | 'row'>) => `${op}.${row}`;

interface OwnSums {
  created: number;
  funded: number;
  withdrawn: number;
}

/** Sums of own rows that are done or count as done, a card; rows that made no known card are left out. */
function ownSums(moves: readonly MoveRow[], counted: ReadonlyMap<string, string>): Map<string, OwnSums> {
  const sums = new Map<string, OwnSums>();
  for (const move of moves) {
    const { operation, outcome, cents } = move;
    const card = counted.get(rowName(move));
    const card_id = card ?? move.card_id;
    if (card_id === null || (outcome !== 'done' && card === undefined)) continue;
    const own = sums.get(card_id) ?? { created: 0, funded: 0, withdrawn: 0 };
    sums.set(card_id, own);
    if (operation === 'cards.create') own.created += cents;
    if (operation === 'cards.fund') own.funded += cents;
    if (operation === 'cards.withdraw') own.withdrawn += cents;
  }
  return sums;
}

const NO_SUMS: CardSums = { settled: 0, refunded: 0, holds: 0, unbounded: false };
const NO_OWN: OwnSums = { created: 0, funded: 0, withdrawn: 0 };

/** The position that was observed. Cards that only records or own rows name count as gone. */
export function positionOf({ at, wallet, cards, records, moves, counted }: Observed): Position {
  const own = ownSums(moves, counted);
  const positions = new Map<string, CardPosition>();
  const place = (card_id: string, status: string, balance: number) => {
    const { created, funded, withdrawn } = own.get(card_id) ?? NO_OWN;
    const { settled, refunded, holds, unbounded } = records.get(card_id) ?? NO_SUMS;
    const sums = { settled, refunded, holds, created, funded, withdrawn, unverified: 0 as const, unbounded };
    positions.set(card_id, { card_id, status, balance, ...sums });
  };
  for (const { card_id, status, balance_cents, gone_at } of cards) {
    const isOver = status === 'terminated' || gone_at !== null;
    place(card_id, isOver ? 'terminated' : status, isOver ? 0 : (balance_cents ?? 0));
  }
  for (const card_id of [...records.keys(), ...own.keys()]) {
    if (!positions.has(card_id)) place(card_id, 'unlisted', 0);
  }
  return {
    at,
    wallet: wallet.balance_cents,
    deposited: wallet.total_deposited_cents ?? 0,
    spent: wallet.total_spent_cents ?? 0,
    cards: positions,
    carried: 0,
  };
}

/** The position that a kept checkpoint stands for. */
export function positionOfCheckpoint(checkpoint: CheckpointRow, rows: Iterable<CheckpointCardRow>): Position {
  const cards = new Map<string, CardPosition>();
  for (const row of rows) {
    cards.set(row.card_id, {
      card_id: row.card_id,
      status: row.status,
      balance: row.balance_cents,
      settled: row.settled_cents,
      refunded: row.refunded_cents,
      holds: row.holds_cents,
      created: row.created_cents,
      funded: row.funded_cents,
      withdrawn: row.withdrawn_cents,
      unverified: row.unverified,
      unbounded: false,
    });
  }
  const { at_ms: at, wallet_cents, total_deposited_cents, total_spent_cents, carried_cents } = checkpoint;
  return {
    at,
    wallet: wallet_cents,
    deposited: total_deposited_cents,
    spent: total_spent_cents,
    cards,
    carried: carried_cents,
  };
}
