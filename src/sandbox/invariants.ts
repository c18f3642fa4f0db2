/**
 * Everything of SANDBOX, section 8, that stored data can show. I1 to I10 are the ledger's; here are I11 to I16: what
 * the books say about approvals, and what events and stored answers say about the books.
 */
import { eventFaults } from './event-check.ts';
import { brokenOf, checkLedger, type Invariant, WHOLE } from './ledger-check.ts';
import { replayFaults } from './replay-check.ts';
import { monthOf } from './rules/dates.ts';
import { inRoom } from './store/bulk.ts';
import type { Sql } from './store/sql.ts';

/** How many entries of a kind may be about one thing, and which things they may be about. */
const entryFor = (kind: string, things: string) => `select e.kind || ' ' || e.ref as culprit from entries e
  where e.account_id = :account and e.kind = '${kind}' and e.ref not in (${things})`;
const once = (kind: string, things: string) => `select t.id as culprit from (${things}) t
  left join (select ref, count(*) as times from entries where account_id = :account and kind = '${kind}' group by ref) e
    on e.ref = t.id where coalesce(e.times, 0) <> 1`;
const records = (type: string) => `select id from transactions where ${WHOLE} and type = '${type}'`;
const CONFIRMED = `select id from deposits where account_id = :account and status = 'confirmed'`;
const CARDS = 'select id from cards where account_id = :account';

const ONCE_EACH: Readonly<Record<string, string>> = {
  authorize: records('authorization'),
  settle: records('settlement'),
  refund: records('refund'),
  deposit: CONFIRMED,
  create: CARDS,
};
const KINDS_ONCE = Object.keys(ONCE_EACH).map(kind => `'${kind}'`);
const number = (things: string) => `(select count(*) from (${things}) n)`;

/**
 * I12 in one pass over the entries: none is about the wrong thing, none about the same as another, and there are as many
 * as things. Then every thing has its one.
 */
const MISMATCHED = `select e.ref as culprit from entries e
    left join transactions t on t.account_id = e.account_id and t.id = e.ref
    where coalesce(e.account_id, '') = :account and e.kind in ('authorize', 'increment', 'release', 'settle', 'refund')
      and coalesce(t.type, '') <>
        case e.kind when 'settle' then 'settlement' when 'refund' then 'refund' else 'authorization' end
  union all select e.ref from entries e left join cards c on c.account_id = e.account_id and c.id = e.ref
    where e.account_id = :account and e.kind in ('create', 'fund', 'withdraw', 'terminate') and c.id is null
  union all ${entryFor('deposit', CONFIRMED)}
  union all select ref from (select ref from entries where account_id = :account and kind in (${KINDS_ONCE})
    group by kind, ref having count(*) > 1) d
  ${Object.entries(ONCE_EACH)
    .map(
      ([kind, things]) => `union all select w.account_id from wallets w where w.account_id = :account and
        ${number(`select id from entries where account_id = :account and kind = '${kind}'`)} <> ${number(things)}`,
    )
    .join(' ')}`;

const APPROVALS: readonly Invariant[] = [
  {
    id: 'I11',
    says: 'no authorization is above the limit of its BIN for one transaction',
    statement: `select t.id as culprit from transactions t
      join cards c on c.account_id = t.account_id and c.id = t.card_id
      join bins b on b.account_id = c.account_id and b.id = c.bin_id
      where coalesce(t.account_id, '') = :account and t.type = 'authorization' and t.amount > b.max_transaction`,
  },
  {
    id: 'I11',
    says: 'no approval took more than the card had',
    statement: `select e.ref as culprit from (
        select p.account_id, p.entry_id, p.ledger,
          sum(p.amount) over (partition by p.account_id, p.ledger order by p.entry_id) as after
        from postings p where p.account_id = :account) r
      join entries e on e.account_id = r.account_id and e.id = r.entry_id
      where e.kind in ('authorize', 'increment') and r.ledger like 'card:%' and r.after < 0`,
  },
  {
    id: 'I12',
    says: 'every entry is about something that moved money, and each such thing moved it once',
    doubt: MISMATCHED,
    statement: [
      ...Object.entries(ONCE_EACH).map(([kind, things]) => once(kind, things)),
      entryFor('authorize', records('authorization')),
      entryFor('increment', records('authorization')),
      entryFor('release', records('authorization')),
      entryFor('settle', records('settlement')),
      entryFor('refund', records('refund')),
      entryFor('deposit', CONFIRMED),
      ...['create', 'fund', 'withdraw', 'terminate'].map(kind => entryFor(kind, CARDS)),
    ].join(' union all '),
  },
  {
    id: 'I16',
    says: 'nothing moves on a card after its end but holds that settle or are given back',
    statement: `select distinct t.ref as culprit from postings p
      join (select 'card:' || ref as ledger, ref, id from entries where account_id = :account and kind = 'terminate') t
        on t.ledger = p.ledger
      where p.account_id = :account and p.entry_id > t.id`,
  },
];

/** I11 for the month: what is held and was settled within its hold was once checked against the limit (A-161). */
async function monthFaults(sql: Sql, account: string): Promise<string[]> {
  const span = await sql.get<{ first: number | null; last: number | null }>(
    "select min(created_at) as first, max(created_at) as last from transactions where coalesce(account_id, '') = ? and type = 'authorization'",
    account,
  );
  const faults: string[] = [];
  if (span?.first == null || span.last === null) return faults;
  for (let at = monthOf(span.first).from; at <= span.last; ) {
    const { next, over } = await overIn(sql, account, at);
    if (over.length > 0) {
      const month = new Date(at).toISOString().slice(0, 7);
      faults.push(`I11 approvals of ${month} stay within the monthly limit: ${over.join(', ')}`);
    }
    // Empty months are skipped: a clock may have been moved by centuries.
    at = next;
  }
  return faults;
}

async function overIn(sql: Sql, account: string, from: number): Promise<{ next: number; over: readonly string[] }> {
  const { before } = monthOf(from);
  const rows = await sql.all<{ id: string }>(
    `select c.id from cards c join (
        select a.account_id, a.card_id, sum(a.held + a.settled - a.excess) as used from transactions a
        where a.account_id = ? and a.type = 'authorization' and a.created_at >= ? and a.created_at < ?
        group by a.account_id, a.card_id) u on u.account_id = c.account_id and u.card_id = c.id
      where u.used > c.spending_limit order by c.id limit 5`,
    account,
    from,
    before,
  );
  const later = await sql.get<{ at: number | null }>(
    "select min(created_at) as at from transactions where account_id = ? and type = 'authorization' and created_at >= ?",
    account,
    before,
  );
  const next = later?.at == null ? Number.POSITIVE_INFINITY : monthOf(later.at).from;
  return { next, over: rows.map(({ id }) => id) };
}

/** What does not hold of I1 to I16, one line an invariant. Empty when all is well. */
export function checkInvariants(sql: Sql, account: string): Promise<string[]> {
  return inRoom(sql, async () => [
    ...(await checkLedger(sql, account)),
    ...(await brokenOf(sql, account, APPROVALS)),
    ...(await monthFaults(sql, account)),
    ...(await replayFaults(sql, account)),
    ...(await eventFaults(sql, account)),
  ]);
}
