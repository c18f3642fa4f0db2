/** Statements on what the sandbox holds in all, and on cards that are looked for. */
import type { Cents } from '../../core/money.ts';
import type { CardRow, CardStatus } from './cards.ts';
import { type Listed, listed, type Page } from './ledger-pages.ts';
import type { Sql, SqlValue } from './sql.ts';

export interface Holdings {
  readonly on_cards: Cents;
  readonly on_hold: Cents;
  readonly cards_active: number;
  readonly cards_frozen: number;
  readonly cards_terminated: number;
}

const OF_CARDS = `select cast(coalesce(sum(balance), 0) as bigint) as on_cards,
    cast(coalesce(sum(hold), 0) as bigint) as on_hold,
    count(case when status = 'active' then 1 end) as cards_active,
    count(case when status = 'frozen' then 1 end) as cards_frozen,
    count(case when status = 'terminated' then 1 end) as cards_terminated
  from cards where account_id = ?`;

/** Sums over all cards. */
export const holdingsOf = async (sql: Sql, account: string) => (await sql.known<Holdings>(OF_CARDS, account))[0];

export interface OpenCounts {
  readonly open_holds: number;
  readonly open_challenges: number;
  readonly pending_deposits: number;
  readonly failed_deliveries: number;
}

/** An open hold has its timer, which is found without looking through all records. */
const OPEN = `select
  (select count(*) from timers where account_id = ? and kind = 'authorization.expiry') as open_holds,
  (select count(*) from challenges where account_id = ? and status = 'pending') as open_challenges,
  (select count(*) from deposits where account_id = ? and status = 'pending') as pending_deposits,
  (select count(*) from deliveries where account_id = ? and state = 'failed') as failed_deliveries`;

export const openCounts = (sql: Sql, account: string) => sql.get<OpenCounts>(OPEN, account, account, account, account);

export type FoundCard = Pick<
  CardRow,
  'id' | 'label' | 'last4' | 'network' | 'status' | 'balance' | 'hold' | 'bin_id' | 'created_at'
>;

export interface CardSearch {
  readonly q?: string | undefined;
  readonly status?: CardStatus | undefined;
  readonly bin?: string | undefined;
}

/** Newest first. */
export function searchCards(sql: Sql, account: string, search: CardSearch, page: Page): Promise<Listed<FoundCard>> {
  const { where, values } = conditions(account, search);
  const query = {
    columns: 'id, label, substr(number, 13) as last4, network, status, balance, hold, bin_id, created_at',
    from: `cards where ${where}`,
    order: 'created_at desc, id desc',
    values,
  };
  return listed<FoundCard>(sql, query, page);
}

function conditions(account: string, { q, status, bin }: CardSearch): { where: string; values: SqlValue[] } {
  const where = ['account_id = ?'];
  const values: SqlValue[] = [account];
  const add = (condition: string, ...more: readonly SqlValue[]) => {
    where.push(condition);
    values.push(...more);
  };
  if (status !== undefined) add('status = ?', status);
  if (bin !== undefined) add('bin_id = ?', bin);
  const wanted = q?.trim() ?? '';
  if (wanted !== '') {
    const part = `%${escaped(wanted)}%`;
    add(
      "(lower(label) like ? escape '!' or lower(id) like ? escape '!' or substr(number, 13) = ? or lower(metadata) like ? escape '!')",
      lowerAscii(part),
      lowerAscii(`${escaped(wanted)}%`),
      wanted,
      lowerAscii(metadataPart(wanted)),
    );
  }
  return { where: where.join(' and '), values };
}

/** In lower case as `lower` has columns. A database takes values by its own language, which knows more letters. */
export const lowerAscii = (text: string) => text.replace(/[A-Z]+/g, letters => letters.toLowerCase());

/** `key=value` as it stands in the JSON text; of anything else nothing is found there. */
function metadataPart(wanted: string): string {
  const [, key, value] = /^(?:metadata\.)?([^=]+)=(.*)$/.exec(wanted) ?? [];
  if (key === undefined || value === undefined) return '';
  return `%${escaped(`${JSON.stringify(key)}:${JSON.stringify(value)}`)}%`;
}

const escaped = (text: string) => text.replace(/[!%_]/g, '!$&');
