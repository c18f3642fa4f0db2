/** cards.timeline: everything that happened to a card, of every kind, in one order. */
import { TIMELINE_ITEM, TIMELINE_KINDS, type TimelineKind } from '../../contract/sandbox/inspector.ts';
import { type Cents, plainAmount } from '../../core/money.ts';
import { cardOf } from '../account/ledger.ts';
import { wired } from '../account/wire.ts';
import { Refused } from '../calls/handler.ts';
import { pageFacts } from '../handlers/service.ts';
import type { LookHandlers, StoreMoment } from '../service/service.ts';
import {
  ABOUT_CARD,
  aboutCard,
  type ChallengeRow,
  type DeliveryRow,
  type EntryOfCard,
  type EventRow,
  entriesOfCard,
  MOST_OF_A_KIND,
  pageOfTransactions,
  type RequestRow,
  type TransactionRow,
} from '../store/rows.ts';

interface Item extends LifeItem {
  readonly number: number | null;
  readonly text: string;
  readonly amount: Cents | null;
}

export const TIMELINE = {
  'cards.timeline': look => {
    const { card_id: card, kinds, page = 1, per_page: limit = 50 } = look.input;
    cardOf(look, card);
    const wanted = wantedKinds(kinds);
    const items = inOrder(lifeOf(look, card)).filter(({ kind }) => wanted.includes(kind));
    const end = Math.max(0, items.length - (page - 1) * limit);
    const shown = items.slice(Math.max(0, end - limit), end).toReversed();
    const data = shown.map(item => wired(TIMELINE_ITEM, item));
    return { data, page: pageFacts(page, limit, items.length) };
  },
} satisfies Partial<LookHandlers>;

function wantedKinds(text: string | undefined): readonly TimelineKind[] {
  if (text === undefined) return TIMELINE_KINDS;
  const names = text.split(',').map(name => name.trim());
  const other = names.find(name => !(TIMELINE_KINDS as readonly string[]).includes(name));
  if (other === undefined) return names as TimelineKind[];
  throw new Refused('invalid_request', `kinds: ${JSON.stringify(other)} is none of ${TIMELINE_KINDS.join(', ')}`);
}

/** What it is, when it was, its id and what happened; what is not told has none. */
const item = (kind: TimelineKind, at: number, id: string, text: string, more: Partial<Item> = {}): Item => ({
  kind,
  at,
  id,
  text,
  number: null,
  amount: null,
  marks: [],
  behind: [],
  ...more,
});

const NEWEST = `desc limit ${MOST_OF_A_KIND}`;
const CHALLENGES = `select * from challenges where card_id = ? order by created_at desc, id ${NEWEST}`;
const EVENTS = `select * from events where ${ABOUT_CARD} order by seq ${NEWEST}`;
const DELIVERIES = `select * from deliveries where event_seq in (select seq from events where ${ABOUT_CARD})
  order by position ${NEWEST}`;

function lifeOf(moment: StoreMoment, card: string): Readonly<Record<TimelineKind, readonly Item[]>> {
  const { sql } = moment;
  const transactions = pageOfTransactions(sql, { card_id: card }, { limit: MOST_OF_A_KIND, offset: 0 });
  const events = sql.all<EventRow>(EVENTS, ...aboutCard(card));
  const deliveries = sql.all<DeliveryRow>(DELIVERIES, ...aboutCard(card));
  return {
    request: requestsOf(moment, card).map(requestItem),
    transaction: transactions.rows.toReversed().map(transactionItem),
    entry: entriesOfCard(sql, card).map(entry => entryItem(entry, card)),
    challenge: sql.all<ChallengeRow>(CHALLENGES, card).toReversed().map(challengeItem),
    event: events.toReversed().map(eventItem),
    delivery: deliveries.toReversed().map(deliveryItem),
  };
}

type RequestOfCard = RequestRow & {
  /** Its number in the log; null of one that is in no store yet. */
  readonly position: number | null;
};

/** Those that wait in this process come behind all that are stored. */
function requestsOf({ sql, parts }: StoreMoment, card: string): readonly RequestOfCard[] {
  const stored = sql.all<RequestOfCard>('select * from requests where card_id = ? order by position', card);
  const waiting = parts.requestLog.waiting.filter(row => row.card_id === card).map(row => ({ ...row, position: null }));
  return [...stored, ...waiting];
}

/** What a request that was carried out leads to: an entry, or the event where nothing moves. */
const MADE_BY: Readonly<Record<string, string>> = {
  'cards.create': 'create',
  'cards.fund': 'fund',
  'cards.withdraw': 'withdraw',
  'cards.terminate': 'terminate',
  'cards.freeze': 'card.frozen',
  'cards.unfreeze': 'card.unfrozen',
};

function requestItem(row: RequestOfCard): Item {
  const { position: number, request_id: id, at, operation, method, path, status, error, fault, replayed } = row;
  const notes = [
    error,
    fault && `fault ${fault}`,
    replayed === 1 && 'replayed',
    row.idempotency_key !== null && `key ${row.idempotency_key}`,
  ];
  const made = status < 400 && replayed === 0 ? MADE_BY[operation] : undefined;
  const text = [`${method} ${path} ${status}`, ...notes.filter(Boolean)].join(', ');
  return item('request', at, id, text, { number, marks: made === undefined ? [] : [`request ${made}`] });
}

function transactionItem({
  id,
  created_at: at,
  type,
  status,
  amount,
  merchant,
  decline_reason: reason,
}: TransactionRow) {
  const became = type === 'authorization' ? `, ${status}` : reason === null ? '' : `: ${reason}`;
  return item('transaction', at, id, `${type} ${plainAmount(amount)} ${merchant}${became}`, { amount, marks: [id] });
}

/** Told is what moved, account by account. */
function entryItem({ id, kind, ref, created_at: at, postings }: EntryOfCard, card: string): Item {
  const short = (ledger: string) => ledger.replace(`:${card}`, '').replace(/^wallet:.*/, 'wallet');
  const signed = (amount: Cents) => `${amount > 0 ? '+' : ''}${plainAmount(amount)}`;
  const text = `${kind}: ${postings.map(({ ledger, amount }) => `${short(ledger)} ${signed(amount)}`).join(', ')}`;
  const amount = postings.find(({ ledger }) => ledger === `card:${card}`)?.amount ?? null;
  const order = { marks: [`${kind} ${ref}`], behind: [ref, `request ${kind}`] };
  return item('entry', at, String(id), text, { number: id, amount, ...order });
}

function challengeItem({ id, created_at: at, merchant, amount, status, attempts }: ChallengeRow): Item {
  const wrong = attempts === 0 ? '' : `, ${attempts} wrong`;
  const text = `3DS challenge ${plainAmount(amount)} ${merchant}: ${status}${wrong}`;
  return item('challenge', at, id, text, { amount, marks: [id] });
}

/** The entry that an event tells of. */
const TELLS_OF: Readonly<Record<string, string>> = {
  'card.created': 'create',
  'card.funded': 'fund',
  'card.terminated': 'terminate',
  'transaction.authorized': 'authorize',
  'transaction.settled': 'settle',
  'transaction.refunded': 'refund',
};

function eventItem({ seq, id, type, created_at: at, body }: EventRow): Item {
  const { data } = JSON.parse(body) as { readonly data: { readonly id: string } };
  const entry = TELLS_OF[type];
  const behind = [data.id, ...(entry === undefined ? [] : [`${entry} ${data.id}`]), `request ${type}`];
  return item('event', at, id, type, { number: seq, marks: [id], behind });
}

function deliveryItem(row: DeliveryRow): Item {
  const { id, position: number, created_at: at, webhook_id, event_id, event_type, state, attempt } = row;
  const tries = attempt === 0 ? '' : `, ${attempt} ${attempt === 1 ? 'try' : 'tries'}`;
  return item('delivery', at, id, `${event_type} to ${webhook_id}: ${state}${tries}`, { number, behind: [event_id] });
}

// The order of what happened to a card. Each kind has an order of its own that is certain (entry, event and request are numbered); between kinds there is the time, and where that is the same or went back, what led to what. Nothing is sorted by time alone: the clock of a sandbox may stand.

export interface LifeItem {
  readonly kind: TimelineKind;
  /** ms UTC on the clock of the sandbox. */
  readonly at: number;
  readonly id: string;
  /** Names under which others wait for it. */
  readonly marks: readonly string[];
  /** Names of what came before it, where that is in the list at all. */
  readonly behind: readonly string[];
}

/** At one time the end of a chain first: it waits for what led to it, and nothing else comes between. */
const KINDS: readonly TimelineKind[] = ['delivery', 'event', 'entry', 'request', 'transaction', 'challenge'];

/** Records and challenges have no number; what tells of them says when they came. */
const UNNUMBERED: readonly TimelineKind[] = ['transaction', 'challenge'];

/** Oldest first. Each list must be in the order of its kind, oldest first. */
export function inOrder<Item extends LifeItem>(
  lists: Readonly<Record<TimelineKind, readonly Item[]>>,
): readonly Item[] {
  const order: Item[] = [];
  const done = new Set<Item>();
  const places = new Map<Item, number>();
  /** What has a mark and is not done, oldest first. */
  const byMark = new Map<string, Item[]>();
  for (const list of Object.values(lists)) {
    for (const [place, item] of list.entries()) {
      places.set(item, place);
      for (const mark of item.marks) {
        const marked = byMark.get(mark);
        if (marked === undefined) byMark.set(mark, [item]);
        else marked.push(item);
      }
    }
  }
  const next: Record<string, number> = {};
  /** The first of a kind that is not done. */
  const head = (kind: TimelineKind): Item | undefined => {
    let place = next[kind] ?? 0;
    for (let item = lists[kind][place]; item !== undefined && done.has(item); item = lists[kind][place]) place += 1;
    next[kind] = place;
    return lists[kind][place];
  };
  /** What has to come before it and is not done. */
  const causes = ({ behind, at }: Item): readonly Item[] =>
    behind.flatMap(mark => {
      const waiting = byMark.get(mark) ?? [];
      while (waiting[0] !== undefined && done.has(waiting[0])) waiting.shift();
      return waiting[0] !== undefined && waiting[0].at <= at ? [waiting[0]] : [];
    });
  /** What is before it in its own order goes first, then what led to it. */
  const add = (item: Item): void => {
    if (done.has(item)) return;
    done.add(item);
    const place = places.get(item) ?? 0;
    if (!UNNUMBERED.includes(item.kind)) {
      for (let at = next[item.kind] ?? 0; at < place; at += 1) add(lists[item.kind][at] as Item);
    }
    for (const cause of causes(item)) add(cause);
    order.push(item);
  };
  for (;;) {
    // The earliest of what is next; at one time what nothing has to come before, the end of a chain first.
    const heads = KINDS.map(head).filter(item => item !== undefined);
    const earliest = Math.min(...heads.map(({ at }) => at));
    const now = heads.filter(({ at }) => at === earliest);
    const chosen = now.find(item => causes(item).length === 0) ?? now[0];
    if (chosen === undefined) return order;
    add(chosen);
  }
}
