/** What handlers, timers and data sets share: the surroundings of one change, and the card it is about. */
import { type Cents, cents } from '../../core/money.ts';
import { type Call, Refused } from '../calls/handler.ts';
import { mustFreeze } from '../rules/money.ts';
import { type CardRow, cardById, keepDocument, setCardStatus } from '../store/cards.ts';
import { type Balances, type Entry, post } from './ledger.ts';
import { cardDocument, wireCard } from './objects.ts';

/** One change in its open transaction. A handler's call and a timer's call both are one. */
export type Act = Pick<Call, 'sql' | 'account' | 'now' | 'idSource' | 'emit'>;

/** Throws `not_found` for a card that is not there, or not this account's. */
export async function cardOf({ sql, account }: Pick<Act, 'sql' | 'account'>, id: string): Promise<CardRow> {
  const card = await cardById(sql, account, id);
  if (card === undefined) throw new Refused('not_found', `no card ${id}`);
  return card;
}

/** The same, and throws `card_terminated` when it has ended. */
export async function livingCard(act: Pick<Act, 'sql' | 'account'>, id: string): Promise<CardRow> {
  const card = await cardOf(act, id);
  if (card.status === 'terminated') throw new Refused('card_terminated', `card ${id} is terminated`);
  return card;
}

export interface Moved {
  readonly card: CardRow;
  readonly wallet: Cents;
}

/** Posts an entry about a card; the card comes back with its new balances. */
export async function moveOnCard(
  { sql, account, now }: Act,
  card: CardRow,
  entry: Pick<Entry, 'kind' | 'ref' | 'moves' | 'isCovered'>,
): Promise<Moved> {
  const after: Balances = await post(sql, { ...entry, account, at: now, card: card.id });
  const moved: CardRow = { ...card, ...after.card };
  await keepDocument(sql, account, cardDocument(moved));
  return { card: moved, wallet: after.wallet };
}

/**
 * Freezes an active card whose balance has just decreased below its line, after the event of what decreased it
 * . Call it after every decrease and after nothing else.
 */
export async function afterDecrease(act: Act, card: CardRow): Promise<CardRow> {
  return mustFreeze(card) ? changeStatus(act, card, 'frozen') : card;
}

/** Freezes or unfreezes, with its event. */
export async function changeStatus(act: Act, card: CardRow, status: 'active' | 'frozen'): Promise<CardRow> {
  const changed: CardRow = { ...card, status };
  await setCardStatus(act.sql, act.account, { ...cardDocument(changed), status });
  await act.emit(status === 'frozen' ? 'card.frozen' : 'card.unfrozen', wireCard(changed));
  return changed;
}

/** Arithmetic on cents that stays cents. */
export const plus = (a: Cents, b: Cents): Cents => cents(a + b);
export const minus = (a: Cents, b: Cents): Cents => cents(a - b);
