/** requests.get, transactions.why, cards.timeline: what was asked, why it was answered so, and everything that happened to a card in one order. */
import { REQUEST_PAIR, TIMELINE_KINDS, type TimelineKind } from '../../contract/sandbox/inspector.ts';
import { type Cents, plainAmount } from '../../core/money.ts';
import { cardOf } from '../account/ledger.ts';
import { wired } from '../account/wire.ts';
import { found } from '../calls/handler.ts';
import { spoiltText } from '../faults/faults.ts';
import { checkResults, type DeclineFacts } from '../rules/declines.ts';
import { type KeptRequest, keptRequests } from '../service/logs.ts';
import type { StoreHandlers, StoreMoment } from '../service/service.ts';
import {
  ABOUT_CARD,
  aboutCard,
  type ChallengeRow,
  type DeliveryRow,
  type EntryOfCard,
  type EventRow,
  entriesOfCard,
  MOST_OF_A_KIND,
  type TransactionRow,
} from '../store/rows.ts';
import { pageOfList } from './state.ts';

export interface TimelineItem {
  readonly kind: TimelineKind;
  /** ms UTC on the clock of the sandbox. */
  readonly at: number;
  readonly id: string;
  readonly number?: number | null;
  readonly text: string;
  readonly amount?: Cents | null;
}

export const TIMELINE = {
  'requests.get': ({ sql, parts, input: { request_id: id } }) => {
    const newest = keptRequests(sql, parts.requestLog).findLast(each => each.request_id === id);
    const row = found(newest, 'kept request', id);
    return wired(REQUEST_PAIR, {
      ...row,
      headers: row.request_headers,
      took_ms: row.took,
      on_the_wire: spoiltText(row.fault),
    });
  },

  /** Values are kept of declines alone; of a record that was approved, every check held. */
  'transactions.why': ({ sql, input: { transaction_id: id } }) => {
    const row = found(sql.row('transactions', { id }), 'transaction', id);
    const about = { transaction: id, decline_reason: row.decline_reason };
    if (row.type === 'authorization') return { ...about, outcome: 'approved', checks: checkResults(null) };
    if (row.type !== 'decline') return { ...about, outcome: 'posted', checks: checkResults('posted') };
    const kept = sql.row('decline_facts', { transaction_id: id });
    const judged = kept && (JSON.parse(kept.facts) as DeclineFacts);
    return { ...about, outcome: 'declined', checks: checkResults(row.decline_reason, judged) };
  },

  'cards.timeline': look => {
    const { card_id: card, kinds } = look.input;
    cardOf(look, card);
    const wanted = kinds?.split(',').map(kind => kind.trim());
    const items = inOrder(lifeOf(look, card)).filter(({ kind }) => wanted?.includes(kind) ?? true);
    return pageOfList('cards.timeline', look, items.toReversed(), ({ number = null, amount = null }) => ({
      number,
      amount,
    }));
  },
} satisfies Partial<StoreHandlers>;

const NEWEST = `desc limit ${MOST_OF_A_KIND}`;
const TRANSACTIONS = `select * from transactions where card_id = ? order by created_at desc, id ${NEWEST}`;
const CHALLENGES = `select * from challenges where card_id = ? order by created_at desc, id ${NEWEST}`;
const EVENTS = `select * from events where ${ABOUT_CARD} order by seq ${NEWEST}`;
const DELIVERIES = `select * from deliveries where event_seq in (select seq from events where ${ABOUT_CARD})
  order by position ${NEWEST}`;

function lifeOf({ sql, parts }: StoreMoment, card: string): Readonly<Record<TimelineKind, readonly TimelineItem[]>> {
  const requests = keptRequests(sql, parts.requestLog).filter(row => row.card_id === card);
  const events = sql.all<EventRow>(EVENTS, ...aboutCard(card));
  const deliveries = sql.all<DeliveryRow>(DELIVERIES, ...aboutCard(card));
  return {
    request: requests.map(requestItem),
    transaction: sql.all<TransactionRow>(TRANSACTIONS, card).toReversed().map(transactionItem),
    entry: entriesOfCard(sql, card).map(entry => entryItem(entry, card)),
    challenge: sql.all<ChallengeRow>(CHALLENGES, card).toReversed().map(challengeItem),
    event: events.toReversed().map(eventItem),
    delivery: deliveries.toReversed().map(deliveryItem),
  };
}

function requestItem(row: KeptRequest): TimelineItem {
  const { position: number, request_id: id, at, method, path, status, error, fault, replayed } = row;
  const notes = [
    error,
    fault && `fault ${fault}`,
    replayed === 1 && 'replayed',
    row.idempotency_key !== null && `key ${row.idempotency_key}`,
  ];
  const text = [`${method} ${path} ${status}`, ...notes.filter(Boolean)].join(', ');
  return { kind: 'request', at, id, text, number };
}

function transactionItem({
  id,
  created_at: at,
  type,
  status,
  amount,
  merchant,
  decline_reason: reason,
}: TransactionRow): TimelineItem {
  const became = type === 'authorization' ? `, ${status}` : reason === null ? '' : `: ${reason}`;
  const text = `${type} ${plainAmount(amount)} ${merchant}${became}`;
  return { kind: 'transaction', at, id, text, amount };
}

/** Told is what moved, account by account. */
function entryItem({ id, kind, created_at: at, postings }: EntryOfCard, card: string): TimelineItem {
  const short = (ledger: string) => ledger.replace(`:${card}`, '').replace(/^wallet:.*/, 'wallet');
  const signed = (amount: Cents) => `${amount > 0 ? '+' : ''}${plainAmount(amount)}`;
  const text = `${kind}: ${postings.map(({ ledger, amount }) => `${short(ledger)} ${signed(amount)}`).join(', ')}`;
  const amount = postings.find(({ ledger }) => ledger === `card:${card}`)?.amount ?? null;
  return { kind: 'entry', at, id: String(id), text, number: id, amount };
}

function challengeItem({ id, created_at: at, merchant, amount, status, attempts }: ChallengeRow): TimelineItem {
  const wrong = attempts === 0 ? '' : `, ${attempts} wrong`;
  const text = `3DS challenge ${plainAmount(amount)} ${merchant}: ${status}${wrong}`;
  return { kind: 'challenge', at, id, text, amount };
}

const eventItem = ({ seq: number, id, type: text, created_at: at }: EventRow): TimelineItem => {
  return { kind: 'event', at, id, text, number };
};

function deliveryItem(row: DeliveryRow): TimelineItem {
  const { id, position: number, created_at: at, webhook_id, event_type, state, attempt } = row;
  const tries = attempt === 0 ? '' : `, ${attempt} ${attempt === 1 ? 'try' : 'tries'}`;
  const text = `${event_type} to ${webhook_id}: ${state}${tries}`;
  return { kind: 'delivery', at, id, text, number };
}

// Nothing is sorted by time alone: the clock of a sandbox may stand, or go back. Each kind is in the order of its own numbers;
// between kinds there is the time, and at one time what usually leads to the rest goes first.

/** Oldest first. Each list must be in the order of its kind, oldest first. */
export function inOrder(lists: Readonly<Record<TimelineKind, readonly TimelineItem[]>>): readonly TimelineItem[] {
  const left = TIMELINE_KINDS.map(kind => [...lists[kind]].reverse());
  const order: TimelineItem[] = [];
  for (;;) {
    let first: TimelineItem[] | undefined;
    for (const list of left) if (list.length > 0 && timeOf(list) < timeOf(first)) first = list;
    const next = first?.pop();
    if (next === undefined) return order;
    order.push(next);
  }
}

const timeOf = (list: readonly TimelineItem[] | undefined) => list?.at(-1)?.at ?? Number.POSITIVE_INFINITY;
