/** Every operation of the service and the handler that serves it; what is secret and shown in the page; pages of lists. */
import { FUNDING } from '../../contract/card.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { PageFacts } from '../../contract/operation.ts';
import { CURRENCIES, WALLET } from '../../contract/resources.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, plainAmount } from '../../core/money.ts';
import { Secret } from '../../core/secret.ts';
import { afterDecrease, cardOf, changeStatus, livingCard, type Moved, moveOnCard, post } from '../account/ledger.ts';
import { documentOf, wireBin, wireCard, wireChallenge, wired, wireTransaction, wireWebhook } from '../account/wire.ts';
import { type AdminHandlers, type Call, encodedCard, found, type Handlers, Refused } from '../calls/handler.ts';
import { cardExpiry, createdWithin, isExpired } from '../rules/dates.ts';
import { isCategory } from '../rules/declines.ts';
import { COINS, cardNumber, depositAddress, FREE_DIGITS } from '../rules/money.ts';
import { allBins, type BinRow, binById, type ChallengeRow, cancelQueued, type WebhookRow } from '../store/rows.ts';
import { listed, type Query } from '../store/sql.ts';

/** Of cards, transactions and deposits. */
export const NEWEST_FIRST = 'created_at desc, id desc';

export const CARDS = {
  /** Stored is the exact text that is sent. */
  'cards.list': call => {
    const wanted = { 'status = ?': call.input.status, 'bin_id = ?': call.input.bin_id };
    const query = { columns: 'document', from: 'cards', wanted, order: NEWEST_FIRST };
    return paged(call, LIMITS.pageSize.defaults, query, (row: { document: string }) => encodedCard(row.document));
  },

  'cards.get': call => wireCard(cardOf(call, call.input.card_id)),

  /** Refused once terminated, when there is no code any more; an expired or frozen card may be looked at. */
  'cards.details': call => {
    const card = livingCard(call, call.input.card_id);
    const statement = 'select number, cvv from cards where id = ?';
    const secrets = call.sql.get<{ number: string; cvv: string | null }>(statement, card.id);
    if (secrets?.cvv == null) throw new CliError('internal', { message: `no security code stored for ${card.id}` });
    const expiry = new Date(card.expires_at);
    return {
      card_id: card.id,
      number: new Secret(secrets.number),
      cvv: new Secret(secrets.cvv),
      exp_month: expiry.getUTCMonth() + 1,
      exp_year: expiry.getUTCFullYear(),
    };
  },

  'cards.freeze': call => {
    const card = livingCard(call, call.input.card_id);
    if (card.status === 'frozen') throw new Refused('card_already_frozen', `card ${card.id} is frozen already`);
    return wireCard(changeStatus(call, card, 'frozen'));
  },

  'cards.unfreeze': call => {
    const card = livingCard(call, call.input.card_id);
    if (card.status === 'active') throw new Refused('card_not_frozen', `card ${card.id} is active, not frozen`);
    return wireCard(changeStatus(call, card, 'active'));
  },

  /** The available balance, below 0 too, goes to the wallet now; open holds stay and settle. */
  'cards.terminate': call => {
    const card = livingCard(call, call.input.card_id);
    const { balance } = card;
    const emptied =
      balance === 0
        ? { card }
        : moveOnCard(call, card, { kind: 'terminate', ref: card.id, moves: { card: -balance, wallet: balance } });
    const ended = wireCard({ ...emptied.card, status: 'terminated' });
    // Its security code is erased (docs/design/sandbox.md, section 10).
    call.sql.update('cards', { id: card.id }, { status: 'terminated', cvv: null, document: documentOf(ended) });
    call.emit('card.terminated', ended);
    return ended;
  },

  /** Checks in the order of A-115: body, BIN, limit of the BIN, money. Creating below the line does not freeze. */
  'cards.create': call => {
    const { sql, now, idSource, input } = call;
    const { amount: balance, allowed_categories = [] } = input;
    refuseUnknownCategory(allowed_categories);
    const bin = binById(sql, input.bin_id);
    if (bin === undefined) throw new Refused('bin_not_found', `no BIN ${input.bin_id}`);
    const spending_limit = monthlyLimit(bin, input.spending_limit);
    const id = idSource.id('card');
    const moves = { wallet: -balance, card: balance };
    post(sql, { kind: 'create', ref: id, at: now, card: id, isOpening: true, isCovered: true, moves });
    const cvv = idSource.digits('cvv', 3);
    const number = freeNumber(call, bin);
    // Field by field: a copy with more fields than its origin costs the engine ten times as much.
    const card = {
      id,
      bin_id: bin.id,
      network: bin.network,
      status: 'active',
      balance,
      hold: 0 as Cents,
      spending_limit,
      label: input.label ?? '',
      allowed_categories: JSON.stringify(allowed_categories),
      auto_freeze_at: input.auto_freeze_at ?? null,
      metadata: JSON.stringify(input.metadata ?? {}),
      created_at: now,
      expires_at: cardExpiry(now),
    } as const;
    const wire = wireCard({ ...card, last4: number.slice(-4) });
    sql.insert('cards', { ...card, number, cvv, document: documentOf(wire) });
    call.emit('card.created', wire);
    return wire;
  },

  'cards.fund': call => {
    const { amount } = call.input;
    const card = livingCard(call, call.input.card_id);
    if (isExpired(card, call.now)) throw new Refused('card_expired', `card ${card.id} has expired`);
    const moves = { wallet: -amount, card: amount };
    const moved = moveOnCard(call, card, { kind: 'fund', ref: card.id, moves, isCovered: true });
    call.emit('card.funded', wireCard(moved.card));
    return funding(moved, amount);
  },

  /** No event of its own; one that crosses the line freezes the card. */
  'cards.withdraw': call => {
    const { amount } = call.input;
    const card = livingCard(call, call.input.card_id);
    if (amount > card.balance) {
      throw new Refused(
        'insufficient_card_funds',
        `card ${card.id} holds ${plainAmount(card.balance)} USD, ${plainAmount(amount)} USD asked`,
      );
    }
    const moves = { card: -amount, wallet: amount };
    const moved = moveOnCard(call, card, { kind: 'withdraw', ref: card.id, moves });
    afterDecrease(call, moved.card);
    return funding(moved, amount);
  },
} satisfies Partial<Handlers>;

function refuseUnknownCategory(categories: readonly string[]): void {
  const unknown = categories.find(entry => !isCategory(entry));
  if (unknown === undefined) return;
  throw new Refused(
    'invalid_request',
    `allowed_categories: ${JSON.stringify(unknown)} is neither a four-digit MCC nor a known category`,
  );
}

/** the default is the maximum. */
function monthlyLimit(bin: BinRow, asked: Cents | undefined): Cents {
  if (asked === undefined || asked <= bin.max_monthly) return asked ?? bin.max_monthly;
  throw new Refused(
    'invalid_request',
    `spending_limit: ${plainAmount(asked)} USD is above the ${plainAmount(bin.max_monthly)} USD of BIN ${bin.id}`,
  );
}

/** One that no card has: ten thousand cards of one network meet by chance once in twenty stores, and then it is drawn again. */
function freeNumber({ sql, idSource }: Pick<Call, 'sql' | 'idSource'>, { network }: BinRow): string {
  for (;;) {
    const number = cardNumber(network, idSource.digits('number', FREE_DIGITS));
    if (sql.get('select 1 as one from cards where number = ?', number) === undefined) return number;
  }
}

const funding = ({ card, wallet }: Moved, amount: Cents) =>
  wired(FUNDING, { card_id: card.id, amount, card_balance: card.balance, wallet_balance: wallet });

// cards.reveal, challenges.reveal: what is secret, shown in the page to whoever confirms that he means it.

export const REVEALS = {
  'cards.reveal': call => {
    const { last4 } = livingCard(call, call.input.card_id);
    if (last4 !== call.input.last4) {
      throw new Refused('invalid_request', 'last4: these are not the last four digits of this card');
    }
    const { number, cvv, exp_month, exp_year } = CARDS['cards.details']({ ...call, input: call.input });
    return { number, cvv, exp_month, exp_year };
  },

  'challenges.reveal': ({ sql, input: { challenge_id: id } }) => ({
    otp: new Secret(found(sql.row('challenges', { id }), 'challenge', id).otp),
  }),
} satisfies Partial<AdminHandlers>;

// bins, challenges, transactions, wallet, webhooks: what the service tells of an account; and pages of lists.

export interface Paging {
  readonly page?: number | undefined;
  readonly per_page?: number | undefined;
}

/**
 * The page that was asked for, of the rows of a query or of those at hand, with each row as it is sent; `usual` rows where nothing
 * was said.
 */
export function paged<Row, Wire>(
  { sql, input }: Pick<Call, 'sql'> & { readonly input: Paging },
  usual: number,
  from: Query | readonly Row[],
  wire: (row: Row) => Wire,
) {
  const { page = 1, per_page: limit = usual } = input;
  const offset = (page - 1) * limit;
  const atHand = (all: readonly Row[]) => ({ rows: all.slice(offset, offset + limit), total: all.length });
  const { rows, total } = 'from' in from ? listed<Row>(sql, from, { limit, offset }) : atHand(from);
  const facts: PageFacts = { page, per_page: limit, total, total_pages: Math.ceil(total / limit) };
  return { data: rows.map(wire), page: facts };
}

export const ACCOUNT_HANDLERS = {
  'bins.list': ({ sql }) => {
    const rows = allBins(sql);
    return { data: rows.map(wireBin), page: {} };
  },

  /** Listed if and only if pending and not expired, so that any other status finds nothing. */
  'challenges.list': ({ sql, now, input }) => {
    const { card_id, status = 'pending' } = input;
    const statement = `select * from challenges where status = 'pending' and expires_at > ? and card_id = coalesce(?, card_id)
      order by ${NEWEST_FIRST}`;
    const rows = status === 'pending' ? sql.all<ChallengeRow>(statement, now, card_id ?? null) : [];
    return { data: rows.map(wireChallenge), page: {} };
  },

  'transactions.list': call => pageOfTransactions(call, 'transactions', 'type', wireTransaction),

  'wallet.get': ({ sql }) => wired(WALLET, sql.one<Readonly<Record<keyof typeof WALLET, unknown>>>(WALLET_NOW)),

  /** A currency may be received on several networks: one address for each. */
  'wallet.addresses': ({ input }) => {
    const currencies = input.currency === undefined ? CURRENCIES : [input.currency];
    const data = currencies.flatMap(currency =>
      COINS[currency].networks.map(chain => ({
        currency,
        network: chain.name,
        address: depositAddress(currency, chain),
        memo: null,
        min_confirmations: chain.confirmations,
      })),
    );
    return { data, page: {} };
  },

  'webhooks.create': ({ sql, now, idSource, input }) => {
    refuseUser(input.url);
    const row: WebhookRow = {
      id: idSource.id('wh'),
      url: input.url,
      events: JSON.stringify([...new Set(input.events)]),
      secret: input.secret ?? idSource.webhookSecret('first'),
      status: 'active',
      created_at: now,
      updated_at: now,
      former_secret: null,
      former_until: null,
      failing_since: null,
    };
    sql.insert('webhooks', row);
    return { ...wireWebhook(row), secret: row.secret };
  },

  'webhooks.list': ({ sql }) => {
    const rows = sql.all<WebhookRow>('select * from webhooks order by created_at desc, id desc');
    return { data: rows.map(wireWebhook), page: {} };
  },

  'webhooks.get': call => wireWebhook(webhookOf(call)),

  'webhooks.update': call => {
    const row = webhookOf(call);
    const { url, events, status } = call.input;
    if (url !== undefined) refuseUser(url);
    const changed = call.sql.change('webhooks', row, {
      url: url ?? row.url,
      events: events === undefined ? row.events : JSON.stringify([...new Set(events)]),
      status: status ?? row.status,
      updated_at: call.now,
      // A change is a fresh start: earlier failures count no more.
      failing_since: null,
    });
    if (changed.status === 'disabled') cancelQueued(call.sql, row.id);
    return wireWebhook(changed);
  },

  'webhooks.delete': call => {
    const { id } = webhookOf(call);
    call.sql.run('delete from webhooks where id = ?', id);
    cancelQueued(call.sql, id);
    return undefined;
  },
} satisfies Partial<Handlers>;

/** A page of transactions, from wherever and of the type in that column. */
export function pageOfTransactions<Row>(
  { sql, input }: Parameters<Handlers['transactions.list']>[0],
  from: string,
  type: string,
  wire: (row: Row) => ReturnType<typeof wireTransaction>,
) {
  const wanted = { 'card_id = ?': input.card_id, [`${type} = ?`]: input.type, ...createdWithin(input) };
  const asked = { sql, input: { page: input.page } };
  return paged(asked, LIMITS.transactionsPageSize.defaults, { from, wanted, order: NEWEST_FIRST }, wire);
}

/** With the sums of. */
const WALLET_NOW = `select w.balance, 'USD' as currency, w.deposited as total_deposited, w.spent as total_spent, c.*,
    (select coalesce(sum(amount), 0) from deposits where status = 'pending') as pending_deposits
  from wallets w, (select count(case when status = 'active' then 1 end) as cards_active,
    coalesce(sum(balance), 0) as cards_total_balance from cards where status <> 'terminated') c`;

export type Addressed = Pick<Call, 'sql'> & { readonly input: { readonly webhook_id: string } };

/** A password in an address would be shown wherever the address is. */
function refuseUser(url: string): void {
  const { username, password } = new URL(url);
  if (username + password !== '') throw new Refused('invalid_request', 'url: must not hold a user or a password');
}

/** Throws `not_found`. */
export const webhookOf = ({ sql, input: { webhook_id: id } }: Addressed) =>
  found(sql.row('webhooks', { id }), 'webhook', id);

// Every operation of the service and the handler that serves it. A missing one does not compile.

export const HANDLERS: Handlers = { ...CARDS, ...ACCOUNT_HANDLERS };
