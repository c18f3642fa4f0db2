/** The invariants I1 to I10 of docs/design/sandbox.md, section 8, asked of the store itself. */
import type { Sql, SqlValue } from '../store/sql.ts';

/** A statement that yields what breaks an invariant, named `culprit`; none when it holds. */
export interface Invariant {
  readonly id: string;
  readonly says: string;
  readonly statement: string;
}

const SUM = (amount: string) => `cast(coalesce(sum(${amount}), 0) as bigint)`;
const POSTED = `select ledger, ${SUM('amount')} as total from postings where account_id = :account group by ledger`;
/** Reads a table as it lies: by an index, which all rows are in, a million rows would be looked up one by one. */
export const WHOLE = "coalesce(account_id, '') = :account";
/** Settled above a hold, or posted without one. */
const OVER = `(t.excess > 0 or (t.type = 'settlement' and t.authorization_id is null))`;
const WENT_OVER = `select 1 from transactions t where t.account_id = c.account_id and t.card_id = c.id and ${OVER}`;

const INVARIANTS: readonly Invariant[] = [
  {
    id: 'I1',
    says: 'an entry has at least two postings and sums to 0',
    statement: `select cast(e.id as text) as culprit from entries e
      left join postings p on p.account_id = e.account_id and p.entry_id = e.id
      where e.account_id = :account group by e.id having count(p.amount) < 2 or ${SUM('p.amount')} <> 0`,
  },
  {
    id: 'I2',
    says: 'the cached balances of the wallet are the sums of postings',
    statement: `select w.account_id as culprit from wallets w where w.account_id = :account and (
      w.balance <> (select ${SUM('amount')} from postings
        where account_id = :account and ledger = 'wallet:' || w.account_id)
      or w.spent <> (select ${SUM('amount')} from postings where account_id = :account and ledger = 'ext:network')
      or -w.deposited <> (select ${SUM('amount')} from postings
        where account_id = :account and ledger in ('ext:crypto', 'ext:adjust')))`,
  },
  {
    id: 'I2',
    says: 'the cached balance and hold of a card are the sums of postings',
    statement: `with posted as materialized (${POSTED}) select c.id as culprit from cards c
      left join posted b on b.ledger = 'card:' || c.id left join posted h on h.ledger = 'hold:' || c.id
      where c.account_id = :account and (coalesce(b.total, 0) <> c.balance or coalesce(h.total, 0) <> c.hold)`,
  },
  {
    id: 'I3',
    says: 'all accounts sum to 0',
    statement: `select 'postings' as culprit from (select ${SUM('amount')} as total from postings
      where account_id = :account) s where s.total <> 0`,
  },
  {
    id: 'I4',
    says: 'the hold of a card is the sum of its authorizations, never below 0',
    statement: `select c.id as culprit from cards c left join (select card_id, ${SUM('held')} as total
        from transactions where ${WHOLE} and held <> 0 group by card_id) t on t.card_id = c.id
      where c.account_id = :account and (c.hold < 0 or c.hold <> coalesce(t.total, 0))`,
  },
  {
    id: 'I5',
    says: 'a card is below 0 only after a settlement above its hold or a force post',
    statement: `select c.id as culprit from cards c
      where c.account_id = :account and c.balance < 0 and not exists (${WENT_OVER})`,
  },
  {
    id: 'I5',
    says: 'the wallet is below 0 only after a settlement above a hold or a force post',
    statement: `select w.account_id as culprit from wallets w where w.account_id = :account and w.balance < 0
      and not exists (select 1 from transactions t where t.account_id = :account and ${OVER})`,
  },
  {
    id: 'I6',
    says: 'a terminated card holds nothing',
    statement: `select id as culprit from cards
      where account_id = :account and status = 'terminated' and balance <> 0`,
  },
  {
    id: 'I7',
    says: 'held, settled below the hold and released are what was authorized',
    statement: `select id as culprit from transactions
      where ${WHOLE} and type = 'authorization' and held + (settled - excess) + released <> amount`,
  },
  {
    id: 'I8',
    says: 'an authorization that is not pending holds nothing',
    statement: `select id as culprit from transactions where ${WHOLE} and status <> 'pending' and held <> 0`,
  },
  {
    id: 'I9',
    says: 'refunds are at most what settled, and the records agree with the sums',
    statement: `select a.id as culprit from transactions a left join (select authorization_id,
          ${SUM("case when type = 'refund' then amount else 0 end")} as refunded,
          ${SUM("case when type = 'settlement' then amount else 0 end")} as settled
        from transactions where ${WHOLE} and authorization_id is not null group by authorization_id) r
        on r.authorization_id = a.id
      where coalesce(a.account_id, '') = :account and a.type = 'authorization' and (a.refunded > a.settled
        or a.refunded <> coalesce(r.refunded, 0) or a.settled <> coalesce(r.settled, 0))`,
  },
  {
    id: 'I10',
    says: 'deposited minus spent is on the wallet, the cards and the holds',
    statement: `select w.account_id as culprit from wallets w where w.account_id = :account and w.deposited - w.spent
      <> w.balance + (select ${SUM('balance + hold')} from cards where account_id = :account)`,
  },
];

const SHOWN = 5;

/** What does not hold, one line an invariant: `I4 the hold of …: card_x`. Empty when the ledger is whole. */
export function checkLedger(sql: Sql, account: string): Promise<string[]> {
  return brokenOf(sql, account, INVARIANTS);
}

/** The same for any invariants; `:account` stands for the account in their statements. */
export async function brokenOf(sql: Sql, account: string, invariants: readonly Invariant[]): Promise<string[]> {
  const faults: string[] = [];
  const culprits = (statement: string) => {
    const values: SqlValue[] = new Array(statement.split(':account').length - 1).fill(account);
    // In the order of an expression, which no index has: else each table would be read in the order of its ids.
    const shown = `select culprit from (${statement}) f order by culprit || '' limit ${SHOWN}`;
    return sql.all<{ culprit: string }>(shown.replaceAll(':account', '?'), ...values);
  };
  for (const { id, says, statement } of invariants) {
    const found = await culprits(statement);
    if (found.length > 0) faults.push(`${id} ${says}: ${found.map(({ culprit }) => culprit).join(', ')}`);
  }
  return faults;
}
