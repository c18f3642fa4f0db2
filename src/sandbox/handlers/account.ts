/** bins, challenges, transactions, wallet, webhooks: what the service tells of an account; and pages of lists. */
import type { PagedName } from '../../contract/calls.ts';
import type { Shape } from '../../contract/field.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { PageFacts, ReplyOf } from '../../contract/operation.ts';
import { CURRENCIES } from '../../contract/resources.ts';
import { ADMIN_OPERATIONS, type AdminOperations } from '../../contract/sandbox/admin.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, toUsd } from '../../core/money.ts';
import { wireBin, wireChallenge, wired, wireTransaction, wireWebhook } from '../account/wire.ts';
import { type Call, found, type Handlers } from '../calls/handler.ts';
import { checkEndpoint, checkedEvents } from '../outbox/outbox.ts';
import { inclusiveRange } from '../rules/dates.ts';
import { COINS, depositAddress } from '../rules/money.ts';
import { allBins, type ChallengeRow, pageOfTransactions, walletOf } from '../store/account.ts';
import { allWebhooks, cancelQueued, updateWebhook, type WebhookRow, webhookById } from '../store/records.ts';
import { conditions, type Listed, listed, type Page, type Query, type Sql, type SqlRow } from '../store/sql.ts';

export function pageFacts(page: number, perPage: number, total: number): PageFacts {
  return { page, per_page: perPage, total, total_pages: Math.ceil(total / perPage) };
}

interface Paging {
  readonly page?: number | undefined;
  readonly per_page?: number | undefined;
}

/** The page that was asked for, with each row as it is sent; `usual` rows where nothing was said. */
export function paged<Row, Wire>(
  input: Paging,
  usual: number,
  list: (where: Page) => Listed<Row>,
  wire: (row: Row) => Wire,
) {
  const { page = 1, per_page: size = usual } = input;
  const { rows, total } = list({ limit: size, offset: (page - 1) * size });
  return { data: rows.map(wire), page: pageFacts(page, size, total) };
}

/**
 * A page of a list of the control surface: rows of a query, each as the shape of the list has it, and so many as it says where
 * nothing is asked. `also` are members that no column has.
 */
export function pageOfList<const N extends PagedName<AdminOperations>>(
  name: N,
  { sql, input }: { readonly sql: Sql; readonly input: Paging },
  query: Query,
  also: (row: SqlRow) => object = () => ({}),
): ReplyOf<AdminOperations[N]> {
  const {
    query: { per_page },
    returns,
  } = ADMIN_OPERATIONS[name];
  const list = (where: Page) => listed<SqlRow>(sql, query, where);
  const wire = (row: SqlRow) => wired(returns.shape as Shape, { ...row, ...also(row) });
  return paged(input, Number(per_page.defaults), list, wire) as unknown as ReplyOf<AdminOperations[N]>;
}

export const ACCOUNT_HANDLERS = {
  'bins.list': ({ sql }) => {
    const rows = allBins(sql);
    return { data: rows.map(wireBin), page: {} };
  },

  /** Listed if and only if pending and not expired, so that any other status finds nothing. */
  'challenges.list': ({ sql, now, input }) => {
    const { card_id, status = 'pending' } = input;
    const open = { "status = 'pending'": [], 'expires_at > ?': now, 'card_id = ?': card_id };
    const { where, values } = conditions(open);
    const statement = `select * from challenges${where} order by created_at desc, id desc`;
    const rows = status === 'pending' ? sql.all<ChallengeRow>(statement, ...values) : [];
    return { data: rows.map(wireChallenge), page: {} };
  },

  'transactions.list': ({ sql, input }) => {
    const filter = { card_id: input.card_id, type: input.type, ...inclusiveRange(input) };
    const list = (where: Page) => pageOfTransactions(sql, filter, where);
    return paged({ page: input.page }, LIMITS.transactionsPageSize.defaults, list, wireTransaction);
  },

  'wallet.get': ({ sql }) => {
    const wallet = walletOf(sql);
    const sums = sql.get<WalletSums>(WALLET_SUMS);
    if (wallet === undefined || sums === undefined) {
      throw new CliError('internal', { message: 'the store has no wallet' });
    }
    return {
      balance: toUsd(wallet.balance),
      currency: 'USD',
      pending_deposits: toUsd(sums.pending_deposits),
      total_deposited: toUsd(wallet.deposited),
      total_spent: toUsd(wallet.spent),
      cards_active: sums.cards_active,
      cards_total_balance: toUsd(sums.cards_total_balance),
    };
  },

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
    checkEndpoint(input.url);
    const row: WebhookRow = {
      id: idSource.id('wh'),
      url: input.url,
      events: JSON.stringify(checkedEvents(input.events)),
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
    const rows = allWebhooks(sql);
    return { data: rows.map(wireWebhook), page: {} };
  },

  'webhooks.get': call => wireWebhook(webhookOf(call)),

  'webhooks.update': call => {
    const row = webhookOf(call);
    const { url, events, status } = call.input;
    if (url !== undefined) checkEndpoint(url);
    const changed: WebhookRow = {
      ...row,
      url: url ?? row.url,
      events: events === undefined ? row.events : JSON.stringify(checkedEvents(events)),
      status: status ?? row.status,
      updated_at: call.now,
    };
    updateWebhook(call.sql, changed);
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

interface WalletSums {
  readonly cards_active: number;
  readonly cards_total_balance: Cents;
  readonly pending_deposits: Cents;
}

/** Sums of. */
const WALLET_SUMS = `select count(case when status = 'active' then 1 end) as cards_active,
    coalesce(sum(balance), 0) as cards_total_balance,
    (select coalesce(sum(amount), 0) from deposits where status = 'pending') as pending_deposits
  from cards where status <> 'terminated'`;

export type Addressed = Pick<Call, 'sql'> & { readonly input: { readonly webhook_id: string } };

/** Throws `not_found`. */
export const webhookOf = ({ sql, input: { webhook_id: id } }: Addressed) => found(webhookById(sql, id), 'webhook', id);
