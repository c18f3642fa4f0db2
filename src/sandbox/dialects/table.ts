/** Ways of speaking that other services of this kind have (docs/design/contract-and-assumptions.md, section 14). */
import type { OperationName } from '../../contract/calls.ts';
import type { EventName } from '../../contract/events.ts';
import type { Method, Operation } from '../../contract/operation.ts';
import type { DialectName } from '../../contract/sandbox/faults.ts';
import { notSent } from '../../core/errors.ts';
import { type Cents, cents, centsOf, toUsd } from '../../core/money.ts';
import { isObject } from '../../core/objects.ts';
import { authorizationOf, settle } from '../account/authorizations.ts';
import { type Act, balances, cardOf, minus } from '../account/ledger.ts';
import { wireCard, wireChallenge, wireTransaction } from '../account/wire.ts';
import { type AdminHandlers, Encoded, type Fields, type Handlers } from '../calls/handler.ts';
import { NEWEST_FIRST, pageOfTransactions } from '../handlers/service.ts';
import type { Answer } from '../http/answer.ts';
import type { CardRow, ChallengeRow, TransactionRow } from '../store/rows.ts';
import type { Sql } from '../store/sql.ts';

interface Dialect {
  /** What is other than usual. */
  readonly changes: string;
  /** `X-Idempotency-Key` is dropped at the edge. */
  readonly ignoresKeys?: true;
  /** Nothing but what HTTP itself asks for. */
  readonly bareHeaders?: true;
  /** Routes in place of the usual ones. */
  readonly paths?: Partial<Record<OperationName, { readonly method?: Method; readonly path: `/${string}` }>>;
  /** What an answer of the service becomes on its way out; undefined for one that stays as it is. */
  readonly speak?: (spoken: Spoken) => Said | undefined;
  /** Changes the payload of an event on its way out. */
  readonly payload?: (event: Fields) => Fields;
  readonly signature?: { readonly header: string; readonly prefix: string };
  /** Rules, not only words: handlers that stand in for the usual ones, which they are handed. */
  readonly handlers?: Instead<Handlers & AdminHandlers>;
  /** Changes what a handler gives, within its transaction. */
  readonly reply?: (within: Within, operation: string, reply: unknown) => unknown;
  /** Changes the object in an event, within its transaction. */
  readonly eventData?: (within: Within, event: EventName, data: Fields) => Fields;
}

type Instead<All> = {
  readonly [N in keyof All]?: All[N] extends (call: infer AnyCall) => infer Reply
    ? (call: AnyCall, usual: (call: AnyCall) => Reply) => Reply
    : never;
};

interface Within {
  readonly sql: Sql;
}

interface Spoken {
  readonly operation: string;
  readonly row: Operation;
  readonly answer: Answer;
  /** The JSON of the answer; undefined when it has none. */
  readonly body: Fields | undefined;
}

/** Another body, with the status as it was where none is named. */
interface Said {
  readonly body?: unknown;
  readonly status?: number;
}

// Dialects with other names for what the interface does not name, and other statuses for refusals.

const isDone = ({ answer }: Spoken) => answer.status < 300;

const NAMES_STRIPE: Dialect = {
  changes: 'details as number and cvc, fund as {card, wallet}, events as {event, data: {object}}',
  speak(spoken) {
    const { operation, body = {} } = spoken;
    if (!isDone(spoken)) return undefined;
    if (operation === 'cards.details') {
      const { card_id: id, pan: number, cvv: cvc, ...expiry } = body;
      return { body: { id, number, cvc, ...expiry } };
    }
    if (operation !== 'cards.fund' && operation !== 'cards.withdraw') return undefined;
    const { card_id: id, card_balance: balance, wallet_balance: wallet } = body;
    return { body: { card: { id, balance }, wallet: { balance: wallet, currency: 'USD' } } };
  },
  payload: ({ id, type, created_at: created, data }) => ({ id, event: type, created, data: { object: data } }),
};

const NAMES_INCREASE: Dialect = {
  changes: 'details as primary_account_number and verification_code; 409 for a reused key',
  speak(spoken) {
    const { operation, body = {} } = spoken;
    if (body['error'] === 'idempotency_key_reused') return { body: { ...body, code: 409 }, status: 409 };
    if (operation !== 'cards.details' || !isDone(spoken)) return undefined;
    const { card_id, pan: primary_account_number, cvv: verification_code } = body;
    const { exp_month: expiration_month, exp_year: expiration_year } = body;
    return { body: { card_id, primary_account_number, verification_code, expiration_month, expiration_year } };
  },
};

const STATE_CONFLICTS: readonly unknown[] = [
  'card_already_frozen',
  'card_not_frozen',
  'card_terminated',
  'card_expired',
];

/** The error of the interface itself, an empty wallet, keeps its status: it is stated. */
const STRICT_422: Dialect = {
  changes: 'validation and state conflicts are 422, with errors[]',
  speak({ answer, body = {} }) {
    const { error } = body;
    const isValidation = answer.status === 400 && error === 'invalid_request';
    if (answer.status < 400 || !(isValidation || STATE_CONFLICTS.includes(error))) return undefined;
    const message = String(body['message']);
    const field = /^(\w+):/.exec(message)?.[1] ?? null;
    const said = { error: isValidation ? 'validation_error' : error, code: 422, errors: [{ field, message }] };
    return { body: { ...body, ...said }, status: 422 };
  },
};

type ToCard = Within & { readonly input: { readonly card_id: string } };
type WireCard = ReturnType<typeof wireCard>;

/** The card as it is, where what the action leads to is there already. */
const unlessIt =
  (status: CardRow['status']) =>
  <AnyCall extends ToCard>(call: AnyCall, usual: (call: AnyCall) => WireCard): WireCard => {
    const card = cardOf(call, call.input.card_id);
    return card.status === status ? wireCard(card) : usual(call);
  };

const NOOP_200: Dialect = {
  changes: 'freeze, unfreeze and terminate once more are 200',
  handlers: {
    'cards.freeze': unlessIt('frozen'),
    'cards.unfreeze': unlessIt('active'),
    'cards.terminate': unlessIt('terminated'),
  },
};

// Dialects that wrap answers another way; what the interface states itself stays as it is.

/** `{"data": […]}` is stated for these (interface 4). */
const STATED: readonly string[] = ['bins.list', 'challenges.list'];
/** Their answer is not shown, so nothing at all may come. */
const SILENT: readonly string[] = ['cards.freeze', 'cards.terminate', 'cards.withdraw'];

interface WireList {
  readonly data: readonly unknown[];
  readonly meta?: { readonly page: number; readonly total: number; readonly total_pages: number };
}

/** The list of an answer whose envelope is not stated; undefined for everything else. */
function freeList(spoken: Spoken): WireList | undefined {
  const { operation, row, body } = spoken;
  const isList = row.returns.kind === 'list' || row.returns.kind === 'page';
  return isList && isDone(spoken) && !STATED.includes(operation) ? (body as unknown as WireList) : undefined;
}

const MINIMAL: Dialect = {
  changes: 'no optional header, no paging object, no secret in answers, 204 on actions whose answer is not shown',
  bareHeaders: true,
  speak(spoken) {
    const { operation, body } = spoken;
    if (!isDone(spoken)) return undefined;
    if (SILENT.includes(operation)) return { status: 204 };
    const list = freeList(spoken);
    if (list !== undefined) return { body: { data: list.data } };
    if (operation !== 'webhooks.create') return undefined;
    const { secret: _, ...rest } = body ?? {};
    return { body: rest };
  },
};

/** Lists in another envelope. */
const lists = (changes: string, wrapped: (list: WireList) => object): Dialect => ({
  changes,
  speak(spoken) {
    const list = freeList(spoken);
    return list && { body: wrapped(list) };
  },
});

const ENVELOPE_ITEMS = lists('lists as {items, total_count, page, pages}', ({ data, meta }) => {
  const { page = 1, total = data.length, total_pages: pages = 1 } = meta ?? {};
  return { items: data, total_count: total, page, pages };
});

const ENVELOPE_MORE = lists('lists as {data, has_more}, without totals', ({ data, meta }) => {
  const { page = 1, total_pages: pages = 1 } = meta ?? {};
  return { data, has_more: page < pages };
});

const ENVELOPE_WRAPPED: Dialect = {
  changes: 'single objects as {data: obj}',
  speak(spoken) {
    const { row, body } = spoken;
    return row.returns.kind === 'one' && isDone(spoken) && body !== undefined ? { body: { data: body } } : undefined;
  },
};

// `auth-single`: one changing transaction record a purchase, as some services have it.

/** A record as it is shown: its kind is what became of the purchase. */
interface SingleRow extends TransactionRow {
  readonly shown_type: TransactionRow['type'];
}

const SHOWN = `case when type <> 'authorization' then type when refunded > 0 and refunded = settled then 'refund'
  when settled > 0 then 'settlement' else 'authorization' end`;
const SINGLE = `select *, ${SHOWN} as shown_type from transactions`;

const AUTH_SINGLE: Dialect = {
  changes: 'one changing transaction record a purchase',
  handlers: {
    'transactions.list': call =>
      pageOfTransactions(call, `(${SINGLE} where authorization_id is null)`, 'shown_type', shown),
  },
  eventData({ sql }, event, data) {
    const of = data['authorization_id'];
    if (!event.startsWith('transaction.') || typeof of !== 'string') return data;
    const row = sql.get<SingleRow>(`${SINGLE} where id = ?`, of);
    return row === undefined ? data : shown(row);
  },
};

/**
 * The amount is what is left of the purchase, settled less refunded; of one that was given back whole, what was given
 * back. Such a record is its own authorization and says so, which an unlinked refund does not.
 */
function shown(row: SingleRow) {
  const type = row.shown_type;
  if (row.type !== 'authorization' || type === 'authorization') return wireTransaction(row);
  const amount = type === 'refund' ? row.refunded : minus(row.settled, row.refunded);
  return wireTransaction({
    ...row,
    type,
    amount,
    authorization_id: row.id,
    status: row.held > 0 ? 'pending' : 'completed',
  });
}

// `ledger-balance`: what a card holds is shown with its open holds in it. Decisions stay as they are.

const LEDGER_BALANCE: Dialect = {
  changes: 'balance includes holds',
  reply(within, operation, reply) {
    if (!isObject(reply)) return reply;
    if (operation === 'wallet.get') {
      const { sql } = within;
      const statement = `select coalesce(sum(hold), 0) as held from cards where ${LIVING}`;
      return raised(reply, 'cards_total_balance', sql.get<{ held: Cents }>(statement)?.held);
    }
    if (operation === 'cards.fund' || operation === 'cards.withdraw') {
      return raised(reply, 'card_balance', holdFor(within, reply['card_id']));
    }
    if (operation === 'cards.list') {
      const cards = reply['data'] as readonly (Fields | Encoded)[];
      return { ...reply, data: cards.map(card => withHold(within, card)) };
    }
    return isCard(reply) ? withHold(within, reply) : reply;
  },
  eventData: (within, _event, data) => (isCard(data) ? (withHold(within, data) as Fields) : data),
};

function isCard(value: unknown): boolean {
  return value instanceof Encoded || (isObject(value) && 'last4' in value && 'balance' in value);
}

function withHold(within: Within, card: Fields | Encoded): Fields {
  const plain = card instanceof Encoded ? (card.toJSON() as Fields) : card;
  return raised(plain, 'balance', holdFor(within, plain['id']));
}

/** A terminated card has a balance of 0, whatever still settles. */
const LIVING = "status <> 'terminated'";

function holdFor({ sql }: Within, card: unknown): Cents | undefined {
  return sql.get<{ hold: Cents }>(`select hold from cards where id = ? and ${LIVING}`, String(card))?.hold;
}

function raised(values: Fields, name: string, by: number = 0): Fields {
  const shown = centsOf(values[name] as number) ?? 0;
  return { ...values, [name]: toUsd(cents(shown + by)) };
}

// `strict-freeze`: "all transactions are suspended" taken literally; settlements wait for the unfreeze.

const STRICT_FREEZE: Dialect = {
  changes: 'settlements on a frozen card wait until it is unfrozen or terminated',
  handlers: {
    'cards.unfreeze'(call, usual) {
      usual(call);
      settleWaiting(call, call.input.card_id);
      // One of them may have frozen it again.
      return wireCard(cardOf(call, call.input.card_id));
    },
    'cards.terminate'(call, usual) {
      const ended = usual(call);
      settleWaiting(call, call.input.card_id);
      return ended;
    },
    'simulate.settle'(call, usual) {
      const { sql, input } = call;
      const authorization = authorizationOf(call, input.authorization_id);
      const card = cardOf(call, authorization.card_id);
      const amount = input.amount ?? authorization.held;
      if (card.status !== 'frozen' || amount === 0) return usual(call);
      sql.insert('waiting_settlements', {
        authorization_id: authorization.id,
        card_id: card.id,
        amount,
        final: (input.final ?? true) ? 1 : 0,
      });
      const said = { outcome: 'waiting', card_id: card.id, authorization_id: authorization.id };
      return { ...said, ...balances(sql, card.id), events: [] };
    },
  },
};

function settleWaiting(act: Act, card: string): void {
  const statement = `select authorization_id, amount, final from waiting_settlements where card_id = ? order by position`;
  const rows = act.sql.all<{ authorization_id: string; amount: Cents; final: number }>(statement, card);
  if (rows.length > 0) act.sql.run('delete from waiting_settlements where card_id = ?', card);
  for (const { authorization_id, amount, final } of rows) {
    settle(act, authorizationOf(act, authorization_id), { amount, final: final === 1 });
  }
}

/** A challenge nobody cancelled by a word of its own shows what the merchant sees: it failed. */
const finished = ({ status, expires_at }: ChallengeRow, now: number): string => {
  if (status === 'cancelled') return 'failed';
  return status === 'pending' && now >= expires_at ? 'expired' : status;
};

const TDS_TERMINAL: Dialect = {
  changes: 'finished challenges stay listed as approved, failed or expired',
  handlers: {
    'challenges.list'({ sql, now, input: { card_id, status } }) {
      const rows = sql.all<ChallengeRow>(`select * from challenges order by ${NEWEST_FIRST}`);
      const all = rows.map(row => ({ ...wireChallenge(row), status: finished(row, now) }));
      const fits = (row: (typeof all)[number]) =>
        (card_id === undefined || row.card_id === card_id) && (status === undefined || row.status === status);
      return { data: all.filter(fits), page: {} };
    },
  },
};

/** Every dialect by its name. */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  default: { changes: 'nothing' },
  minimal: MINIMAL,
  'envelope-items': ENVELOPE_ITEMS,
  'envelope-more': ENVELOPE_MORE,
  'envelope-wrapped': ENVELOPE_WRAPPED,
  'names-stripe': NAMES_STRIPE,
  'names-increase': NAMES_INCREASE,
  'strict-422': STRICT_422,
  'noop-200': NOOP_200,
  'tds-terminal': TDS_TERMINAL,
  'auth-single': AUTH_SINGLE,
  'ledger-balance': LEDGER_BALANCE,
  'strict-freeze': STRICT_FREEZE,
  'sig-prefixed': {
    changes: 'signatures as X-Hub-Signature-256: sha256=<hex>',
    signature: { header: 'X-Hub-Signature-256', prefix: 'sha256=' },
  },
  'keys-ignored': { changes: 'X-Idempotency-Key is dropped at the edge', ignoresKeys: true },
  'paths-other': {
    changes: 'DELETE to terminate, /suspend, /activate, /topup, /unload, /balance: reached only with overrides',
    paths: {
      'cards.terminate': { method: 'DELETE', path: '/cards/{card_id}' },
      'cards.freeze': { path: '/cards/{card_id}/suspend' },
      'cards.unfreeze': { path: '/cards/{card_id}/activate' },
      'cards.fund': { path: '/cards/{card_id}/topup' },
      'cards.withdraw': { path: '/cards/{card_id}/unload' },
      'wallet.get': { path: '/balance' },
    },
  },
};

/** The dialect a server speaks: chosen when it starts, changed by its control surface, gone with it. */
export class ActiveDialect {
  #name: DialectName;

  constructor(name: DialectName = 'default') {
    this.#name = name;
  }

  get name(): DialectName {
    return this.#name;
  }

  get dialect(): Dialect {
    return DIALECTS[this.#name];
  }

  use(name: DialectName): void {
    this.#name = name;
  }

  get facts() {
    const { changes, ignoresKeys } = this.dialect;
    return { dialect: this.#name, changes, honours_keys: ignoresKeys !== true };
  }

  /** Of an operation: the usual handler, or that of this dialect, which is handed it. */
  serving<AnyCall, Reply>(operation: string, usual: ((call: AnyCall) => Reply) | undefined) {
    type Other = (call: AnyCall, usual: ((call: AnyCall) => Reply) | undefined) => Reply;
    const other = (this.dialect.handlers as Readonly<Record<string, Other>> | undefined)?.[operation];
    return other === undefined ? usual : (call: AnyCall) => other(call, usual);
  }

  /** An answer of the service as this dialect has it. */
  spoken(said: Omit<Spoken, 'body'>): Answer {
    const { speak, bareHeaders } = this.dialect;
    const { answer } = said;
    if (speak === undefined) return answer;
    const heard = answer.body === '' ? undefined : (JSON.parse(answer.body) as Fields);
    const { body, status = answer.status } = speak({ ...said, body: heard }) ?? { body: heard };
    const text = body === heard ? answer.body : body === undefined ? '' : JSON.stringify(body);
    const headers = Object.entries(answer.headers).filter(
      ([name]) => !bareHeaders || NEEDED.includes(name.toLowerCase()),
    );
    return { status, headers: Object.fromEntries(headers), body: text };
  }
}

/** Headers that HTTP asks for with a status. */
const NEEDED: readonly string[] = ['www-authenticate', 'allow'];

/** Throws `usage` naming all dialects. */
export function dialectNamed(text: string): DialectName {
  const names = Object.keys(DIALECTS) as DialectName[];
  const found = names.find(name => name === text);
  if (found !== undefined) return found;
  throw notSent('usage', `there is no dialect ${JSON.stringify(text)}; there are ${names.join(', ')}`);
}
