/** Looking for what a lost answer would have told (docs/design/reliability.md, section 6, "Reconcile"). Reads alone. */

import type { Balances, CardAndWallet } from '../../contract/evidence.ts';
import { CALLS } from '../../contract/raw.ts';
import type { Reader } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, centsOf, dollars } from '../../core/money.ts';
import type { PlanRecord, ShownByCheck } from '../wal/records.ts';
import type { RowHistory } from '../wal/replay.ts';
import { rowMarker } from './marker.ts';
import type { MarkerIndex } from './marker-index.ts';
import type { Trace } from './policy.ts';

type Values = Readonly<Record<string, unknown>>;

export interface EvidenceCheck {
  readonly found: 'it' | 'several' | 'nothing' | 'unclear';
  /** What was looked at and seen, in one clause. */
  readonly text: string;
  readonly cards: readonly Values[];
  /** Nothing could be read, or not twice the same: another look may tell more. */
  readonly failed?: true;
  /** What the wallet of a single create says where its marker is nowhere; undefined where the wallet is no evidence. */
  readonly wallet?: 'same' | 'moved' | 'untold';
  /** Changes since before the first sending, cents; a member is undefined where its change is not known. */
  readonly moved?: Omit<ShownByCheck, 'found'>;
}

/** What of a look is kept. */
export function shownByCheck({ found, moved }: EvidenceCheck): ShownByCheck {
  return { found, ...moved };
}

/** What of this row can be looked for. */
export function traceOf(row: RowHistory, markerUsable: boolean): Trace {
  const { operation } = row.item;
  if (operation === 'cards.create') return markerUsable ? 'marker' : 'none';
  if (operation === 'cards.fund' || operation === 'cards.withdraw') return 'balances';
  return 'leadsTo' in CALLS[operation] ? 'state' : 'none';
}

/** The list of the embedded sandbox is exact, and a request of a process that is gone is gone with it. */
export function absenceProves({ plan }: { readonly plan: PlanRecord }, trace: Trace): boolean {
  return plan.mode === 'sandbox' && trace === 'marker';
}

/** Looks once. A look that fails is `unclear` and says why; it never throws for the service's sake. */
export async function checkForEffect(
  row: RowHistory,
  trace: Trace,
  around: { reader: Reader; plan: PlanRecord; marked: MarkerIndex },
): Promise<EvidenceCheck> {
  const { reader, plan, marked } = around;
  try {
    if (trace === 'marker') return await lookForMarker(marked, row, plan);
    if (trace === 'balances') return await lookForBalances(reader, row, plan.bulk);
    if (trace === 'state') return await lookForState(reader, row);
    return { found: 'unclear', text: 'there is no trace to look for', cards: [] };
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
    return { found: 'unclear', text: `it could not be looked for: ${thrown.message}`, cards: [], failed: true };
  }
}

/** The card now. Throws as reading does; `contract_mismatch` for a balance that is not money. */
export async function cardNow(reader: Reader, cardId: string): Promise<Balances> {
  const card = await reader.read('cards.get', { card_id: cardId });
  return { card: money(card.balance, 'balance of the card'), last4: card.last4 };
}

/** Card and wallet now. Throws as `cardNow` does. */
export async function balancesOf(reader: Reader, cardId: string): Promise<CardAndWallet> {
  const [card, wallet] = await Promise.all([cardNow(reader, cardId), reader.read('wallet.get', {})]);
  return { ...card, wallet: money(wallet.balance, 'balance of the wallet') };
}

function money(value: number, what: string): Cents {
  const amount = centsOf(value);
  if (amount === undefined) throw new CliError('contract_mismatch', { message: `the ${what} is not an amount` });
  return amount;
}

async function lookForMarker(marked: MarkerIndex, row: RowHistory, plan: PlanRecord): Promise<EvidenceCheck> {
  const marker = rowMarker(plan.op, row.item);
  const binId = String(row.item.input['bin_id']);
  const where = `cards of ${binId} with the marker ${marker}`;
  let { cards } = await marked(marker, binId);
  // Pages may shift while they are read: only what is seen twice is believed.
  for (let tries = 0; tries < 3; tries += 1) {
    const { cards: again, unreadable, doubt } = await marked(marker, binId);
    if (sameIds(cards, again)) {
      const ids = again.map(card => String(card['id']));
      if (ids.length === 0 && unreadable.length > 0) {
        return { found: 'unclear', text: `${where}: none, but ${unreadable.join(', ')} without metadata`, cards: [] };
      }
      if (ids.length === 0 && doubt !== undefined) {
        return { found: 'unclear', text: `${where}: none, but the list may be incomplete: ${doubt}`, cards: [] };
      }
      if (ids.length === 0) return { found: 'nothing', text: `${where}: none`, cards: [] };
      return { found: ids.length === 1 ? 'it' : 'several', text: `${where}: ${ids.join(', ')}`, cards: again };
    }
    cards = again;
  }
  return { found: 'unclear', text: `${where}: the list changes while it is read`, cards: [], failed: true };
}

function sameIds(one: readonly Values[], other: readonly Values[]): boolean {
  const ids = (cards: readonly Values[]) =>
    cards
      .map(card => String(card['id']))
      .sort()
      .join(' ');
  return ids(one) === ids(other);
}

async function lookForState(reader: Reader, row: RowHistory): Promise<EvidenceCheck> {
  const { operation, input } = row.item;
  const { leadsTo } = CALLS[operation] as { leadsTo?: { field: string; value: string } };
  const card = await reader.read('cards.get', { card_id: String(input['card_id']) });
  const text = `card ${card.id}: ${card.status}`;
  if (card.status === leadsTo?.value) return { found: 'it', text, cards: [card] };
  // A terminated card is neither frozen nor active again, and asking once more cannot change that.
  return { found: card.status === 'terminated' ? 'unclear' : 'nothing', text, cards: [card] };
}

async function lookForBalances(reader: Reader, row: RowHistory, isBulk: boolean): Promise<EvidenceCheck> {
  const before = row.firstSent?.before;
  const cardId = String(row.item.input['card_id']);
  // The other rows of a run move the wallet as well, so that there the card alone tells.
  const now: Balances = isBulk ? await cardNow(reader, cardId) : await balancesOf(reader, cardId);
  if (before === undefined) return { found: 'unclear', text: 'the balances before are not known', cards: [] };
  const change = (was: number, is: number) => `${dollars(cents(was))} -> ${dollars(cents(is))}`;
  const both = before.wallet !== undefined && now.wallet !== undefined;
  const { aim } = row.item;
  // A top-up brings a card to a balance: above it somebody else has done the same, or more.
  const isAbove = row.item.operation === 'cards.fund' && aim !== undefined && now.card > aim;
  const beyond = isAbove
    ? `; that is above the ${dollars(cents(aim))} it was to have, so another apply may have topped it up`
    : '';
  const text = `card ${cardId} ${change(before.card, now.card)}${both ? `, wallet ${change(before.wallet, now.wallet)}` : ''}${beyond}`;
  const amount = row.item.amount ?? 0;
  const moved = row.item.operation === 'cards.fund' ? amount : -amount;
  const card = now.card - before.card;
  const wallet = both ? now.wallet - before.wallet : undefined;
  const seen = { text, cards: [], moved: { card, wallet } };
  if (card === moved && (isBulk || wallet === -moved)) return { ...seen, found: 'it' };
  return { ...seen, found: card === 0 && (isBulk || wallet === 0) ? 'nothing' : 'unclear' };
}
