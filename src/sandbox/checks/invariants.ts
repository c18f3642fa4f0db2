/** The invariants I1 to I16 of docs/design/sandbox.md, section 8, asked of the store: everything that stored data can show. */
import type { EventName } from '../../contract/events.ts';
import { type CliError, notSent } from '../../core/errors.ts';
import { isDamage } from '../../engine/open.ts';
import type { EntryKind } from '../account/ledger.ts';
import type { Store } from '../store/queue.ts';
import { countAll } from '../store/rows.ts';
import { ACCOUNT } from '../store/schema.ts';
import type { Sql } from '../store/sql.ts';

/** What each of them says (docs/design/sandbox.md, section 8). */
const SAYS = {
  I1: 'an entry has at least two postings and sums to 0',
  I2: 'each cached balance is the sum of its postings',
  I3: 'all accounts sum to 0',
  I4: 'the hold of a card is the sum of its authorizations, never below 0',
  I5: 'below 0 only after a settlement above a hold or a force post',
  I6: 'a terminated card holds nothing',
  I7: 'held, settled below the hold and released are what was authorized',
  I8: 'an authorization that is not pending holds nothing',
  I9: 'refunds are at most what settled, and the records agree with the sums',
  I10: 'deposited minus spent is on the wallet, the cards and the holds',
  I11: 'each approval was within the limits and within what the card had',
  I12: 'each thing that moved money moved it once, and nothing else did',
  I13: 'every stored answer has its own effect',
  I14: 'events have no gap, and one for each transition',
  I15: 'a card that fell below its line is frozen',
  I16: 'nothing happens on a card after its end',
} as const;

/** Statements that yield what breaks an invariant, named `culprit`; none when it holds. */
type Statements = Partial<Record<keyof typeof SAYS, readonly string[]>>;

const SUM = (amount: string) => `coalesce(sum(${amount}), 0)`;
const POSTED = `select ledger, ${SUM('amount')} as total from postings group by ledger`;
/** Settled above a hold, or posted without one. */
const OVER = `(t.excess > 0 or (t.type = 'settlement' and t.authorization_id is null))`;
const WENT_OVER = `select 1 from transactions t where t.card_id = c.id and ${OVER}`;

/** What is held against the present balances: quick, and asked of every store. */
const BOOKS: Statements = {
  I1: [
    `select cast(e.id as text) as culprit from entries e
      left join postings p on p.entry_id = e.id group by e.id having count(p.amount) < 2 or ${SUM('p.amount')} <> 0`,
  ],
  I2: [
    `select '${ACCOUNT}' as culprit from wallets w
      where w.balance <> (select ${SUM('amount')} from postings where ledger = 'wallet:${ACCOUNT}')
      or w.spent <> (select ${SUM('amount')} from postings where ledger = 'ext:network')
      or -w.deposited <> (select ${SUM('amount')} from postings where ledger in ('ext:crypto', 'ext:adjust'))`,
    `with posted as materialized (${POSTED}) select c.id as culprit from cards c
      left join posted b on b.ledger = 'card:' || c.id left join posted h on h.ledger = 'hold:' || c.id
      where (coalesce(b.total, 0) <> c.balance or coalesce(h.total, 0) <> c.hold)`,
  ],
  I3: [`select 'postings' as culprit from (select ${SUM('amount')} as total from postings) s where s.total <> 0`],
  I4: [
    `select c.id as culprit from cards c left join (select card_id, ${SUM('held')} as total
        from transactions not indexed where held <> 0 group by card_id) t on t.card_id = c.id
      where (c.hold < 0 or c.hold <> coalesce(t.total, 0))`,
  ],
  I5: [
    `select c.id as culprit from cards c where c.balance < 0 and not exists (${WENT_OVER})`,
    `select '${ACCOUNT}' as culprit from wallets w where w.balance < 0
      and not exists (select 1 from transactions t where ${OVER})`,
  ],
  I6: [`select id as culprit from cards where status = 'terminated' and balance <> 0`],
  I7: [
    `select id as culprit from transactions
      where type = 'authorization' and held + (settled - excess) + released <> amount`,
  ],
  I8: [`select id as culprit from transactions where status <> 'pending' and held <> 0`],
  I9: [
    `select a.id as culprit from transactions a left join (select authorization_id,
          ${SUM("case when type = 'refund' then amount else 0 end")} as refunded,
          ${SUM("case when type = 'settlement' then amount else 0 end")} as settled
        from transactions where authorization_id is not null group by authorization_id) r
        on r.authorization_id = a.id
      where a.type = 'authorization' and (a.refunded > a.settled
        or a.refunded <> coalesce(r.refunded, 0) or a.settled <> coalesce(r.settled, 0))`,
  ],
  I10: [
    `select '${ACCOUNT}' as culprit from wallets w where w.deposited - w.spent
      <> w.balance + (select ${SUM('balance + hold')} from cards)`,
  ],
};

// I11 to I16: what the records, the stored answers and the events say. They go through all that ever happened.

/** What moves money, and the kinds of entries about it: of one kind exactly one, of the others any number. */
const MOVED: Readonly<Record<string, { readonly once: EntryKind; readonly also?: readonly EntryKind[] }>> = {
  authorization: { once: 'authorize', also: ['increment', 'release'] },
  settlement: { once: 'settle' },
  refund: { once: 'refund' },
  deposit: { once: 'deposit' },
  card: { once: 'create', also: ['fund', 'withdraw', 'terminate'] },
};

const quoted = (names: readonly string[]) => names.map(name => `'${name}'`).join(', ');
const KINDS = Object.values(MOVED).flatMap(({ once, also = [] }) => [once, ...also]);
const times = (what: string) => `count(case when ${what} then 1 end)`;

/** Things and entries in one list, sorted once: the thing of each entry would be looked up in no order. */
const MISMATCHED = `select ref as culprit from (
    select id as ref, type as thing, null as kind from transactions
    union all select id, 'deposit', null from deposits where status = 'confirmed'
    union all select id, 'card', null from cards
    union all select ref, null, kind from entries where kind in (${quoted(KINDS)})) named
  group by ref having ${Object.entries(MOVED)
    .flatMap(([thing, { once, also = [] }]) => [
      `${times(`kind = '${once}'`)} <> ${times(`thing = '${thing}'`)}`,
      ...(also.length === 0
        ? []
        : [`(${times(`kind in (${quoted(also)})`)} > 0 and ${times(`thing = '${thing}'`)} = 0)`]),
    ])
    .join(' or ')}`;

const ANSWERED_PATH = "substr(scope, 6, instr(substr(scope, 6), ' ') - 1)";
const CENTS_ANSWERED = "coalesce(json_extract(body, '$.amount'), json_extract(body, '$.balance')) * 100";

/** Stored answers that say what was done to a card, each with the number of those that say the same. */
const ANSWERED = `select scope, kind, card, amount, row_number() over (partition by kind, card, amount order by scope) as nth
  from (select scope, cast(round(${CENTS_ANSWERED}) as integer) as amount,
      coalesce(json_extract(body, '$.card_id'), json_extract(body, '$.id')) as card,
      case when ${ANSWERED_PATH} = '/v1/cards' then 'create'
        when ${ANSWERED_PATH} like '/v1/cards/%/fund' then 'fund'
        when ${ANSWERED_PATH} like '/v1/cards/%/withdraw' then 'withdraw' end as kind
    from idempotency where state = 'done' and status between 200 and 299 and scope like 'POST %' and json_valid(body))
  where kind is not null and card is not null and amount is not null`;

/** What was done to cards, and how often. Where no answer is stored nothing is read. */
const DONE = `select e.kind, e.ref as card, abs(p.amount) as amount, count(*) as times from entries e
  join postings p on p.entry_id = e.id and p.ledger = 'card:' || e.ref
  where e.kind in ('create', 'fund', 'withdraw') and exists (select 1 from idempotency) group by 1, 2, 3`;

const HISTORY: Statements = {
  I11: [
    `select t.id as culprit from transactions t
      join cards c on c.id = t.card_id
      join bins b on b.id = c.bin_id
      where t.type = 'authorization' and t.amount > b.max_transaction`,
    `select e.ref as culprit from (
        select p.entry_id, p.ledger, sum(p.amount) over (partition by p.ledger order by p.entry_id) as after
        from postings p) r
      join entries e on e.id = r.entry_id
      where e.kind in ('authorize', 'increment') and r.ledger like 'card:%' and r.after < 0`,
    // What is held and was settled within its hold was once checked against the limit (A-161).
    `select a.month || ' ' || c.id as culprit from (
        select card_id, strftime('%Y-%m', created_at / 1000, 'unixepoch') as month, sum(held + settled - excess) as used
        from transactions not indexed where type = 'authorization' group by card_id, month) a
      join cards c on c.id = a.card_id where a.used > c.spending_limit`,
  ],
  I12: [MISMATCHED],
  I13: [
    `select a.scope as culprit from (${ANSWERED}) a left join (${DONE}) d
      on d.kind = a.kind and d.card = a.card and d.amount = a.amount where a.nth > coalesce(d.times, 0)`,
  ],
  I15: [
    // At one moment of a clock that stands, either may have come first.
    `select c.id as culprit from cards c
      join (select ledger, max(entry_id) as last from postings where amount < 0 group by ledger) p
        on p.ledger = 'card:' || c.id
      join entries e on e.id = p.last
      where c.status = 'active' and c.balance < c.auto_freeze_at and not exists (select 1 from events u
        where u.type = 'card.unfrozen' and u.created_at >= e.created_at and u.body like '%"id":"' || c.id || '"%')`,
  ],
  I16: [
    `select distinct t.ref as culprit from postings p
      join (select 'card:' || ref as ledger, ref, id from entries where kind = 'terminate') t
        on t.ledger = p.ledger
      where p.entry_id > t.id`,
  ],
};

// Where events begin: a data set emits none, so what it holds is counted when it is loaded, and I14 starts from there.

const records = (type: string) => `transactions where type = '${type}'`;

/** Things that each had one event of this name. Freezing has none: it goes both ways. */
const HAD_EVENT = {
  'card.created': 'cards',
  'card.terminated': "cards where status = 'terminated'",
  'card.funded': "entries where kind = 'fund'",
  'transaction.authorized': records('authorization'),
  'transaction.settled': records('settlement'),
  'transaction.declined': records('decline'),
  'transaction.refunded': records('refund'),
  // One that was opened on a card that could not take it failed at once, without an event.
  '3ds.challenge': "challenges where not (status = 'failed' and attempts = 0)",
  'deposit.pending': 'deposits',
  'deposit.confirmed': "deposits where status = 'confirmed'",
} as const satisfies Partial<Record<EventName, string>>;

/** How many of each there are, those of the data set included. */
const HAPPENED = Object.entries(HAD_EVENT)
  .map(([name, from]) => `select '${name}' as name, (select count(*) from ${from}) as total`)
  .join(' union all ');

const ORIGIN = 'origin ';

/** Keeps what is there now as the data set's. */
export function rememberOrigin(sql: Sql): void {
  sql.run(`insert into counters (name, value) select '${ORIGIN}' || name, total from (${HAPPENED})`);
}

/** Every line with a culprit; all of it from one reading of the events. */
const EMITTED = `with emitted as materialized (select seq, type, json_extract(body, '$.data.id') as id,
      json_extract(body, '$.data.card_id') as card_id from events where json_valid(body)),
    turns as (select seq, type, id, lag(type) over (partition by id order by seq) as before from emitted
      where type in ('card.frozen', 'card.unfrozen')),
    stories as (select id, min(case when type = 'card.terminated' then seq end) as ended,
        coalesce(max(case when type = 'card.frozen' then seq end), 0) as frozen,
        coalesce(max(case when type = 'card.unfrozen' then seq end), 0) as unfrozen,
        max(type in ('card.created', 'card.frozen', 'card.unfrozen')) as is_emitted
      from emitted where type like 'card.%' group by id),
    authorized as (select card_id, max(seq) as last from emitted where type = 'transaction.authorized' group by card_id)
  select 'I14 the numbers of events have no gap' as what, before + 1 as culprit
    from (select seq, lag(seq, 1, 0) over (order by seq) as before from events) where seq <> before + 1
  union all select 'I14 every event says what it is about', e.seq from events e
    left join emitted t on t.seq = e.seq where typeof(t.id) <> 'text'
  union all select 'I14 one event for each transition', type || ' ' || id from emitted
    where type not in ('card.frozen', 'card.unfrozen', 'card.funded') group by type, id having count(*) > 1
  union all select 'I14 freezing and unfreezing take turns', id from turns where type = before
  union all select 'I14 the status of a card is the one last emitted', c.id from cards c join stories s on s.id = c.id
    where s.is_emitted and s.ended is null and c.status <> 'terminated' and (s.frozen > s.unfrozen) <> (c.status = 'frozen')
  union all select 'I15 ${SAYS.I15}', c.id from cards c join stories s on s.id = c.id join authorized a on a.card_id = c.id
    where c.status = 'active' and c.balance < c.auto_freeze_at and s.ended is null and s.unfrozen between 1 and a.last
  union all select 'I16 no event of a card after its end', t.id from emitted t join stories s on s.id = t.id
    where t.type like 'card.%' and t.seq > s.ended
  union all select 'I16 a terminated card stays terminated', c.id from cards c join stories s on s.id = c.id
    where s.ended is not null and c.status <> 'terminated'
  union all select 'I14 one event for each transition', coalesce(f.total, 0) || ' ' || h.name || ' for ' || h.due
    from (select h.name, h.total - coalesce(o.value, 0) as due from (${HAPPENED}) h
      left join counters o on o.name = '${ORIGIN}' || h.name) h
    left join (select type, count(*) as total from events group by type) f on f.type = h.name
    where coalesce(f.total, 0) <> h.due`;

const SHOWN = 5;

/** What does not hold of these, one line an invariant: `I4 the hold of …: card_x`. */
function brokenOf(sql: Sql, invariants: Statements): string[] {
  const found = Object.entries(invariants).flatMap(([id, statements]) =>
    statements.flatMap(statement => {
      // In the order of an expression, which no index has: else each table would be read in the order of its ids.
      const shown = `select culprit from (${statement}) f order by culprit || '' limit ${SHOWN}`;
      const what = `${id} ${SAYS[id as keyof typeof SAYS]}`;
      return sql.all<{ culprit: string }>(shown).map(({ culprit }) => ({ what, culprit }));
    }),
  );
  return linesOf(found);
}

interface Broken {
  readonly what: string;
  readonly culprit: string | number;
}

function linesOf(found: readonly Broken[]): string[] {
  const lines = new Map<string, Broken['culprit'][]>();
  for (const { what, culprit } of found) lines.set(what, [...(lines.get(what) ?? []), culprit]);
  return [...lines].map(([what, culprits]) => `${what}: ${culprits.slice(0, SHOWN).join(', ')}`);
}

/** What does not hold of I1 to I16, one line an invariant. Empty when all is well. */
export function checkInvariants(sql: Sql): string[] {
  return [...brokenOf(sql, { ...BOOKS, ...HISTORY }), ...linesOf(sql.all<Broken>(EMITTED))];
}

// I1 to I16 one by one, for who asks which of them hold.

/** By the lines of `checkInvariants`, each of which begins with the code of what it breaks; without them nobody asked. */
export function invariantResults(faults?: readonly string[]) {
  return Object.entries(SAYS).map(([id, says]) => {
    const broken = faults?.filter(line => line.startsWith(`${id} `)).map(line => line.slice(id.length + 1)) ?? [];
    return { id, holds: faults === undefined ? null : broken.length === 0, says: broken.join('; ') || says };
  });
}

// The look at a store before it is served to others: its pages, then its books.

/** Transactions and events; so many are looked through in a moment. */
const LOOKED_THROUGH_AT_ONCE = 10_000;

export function isLarge(sql: Sql): boolean {
  const { transactions, events } = countAll(sql);
  return transactions + events > LOOKED_THROUGH_AT_ONCE;
}

/**
 * The pages and I1 to I10 of any store, and I11 to I16 of one that is not large, for nobody waits a minute for a
 * server. At every start anew (docs/design/sandbox.md, section 11): what was found last time says nothing of what
 * befell the file since. Throws `check_failed` naming what is wrong; nothing is changed.
 */
export async function checkWhole(store: Store): Promise<void> {
  const pages = await store.read(damagedPages).catch((error: unknown) => {
    if (isDamage(error)) return ['its pages cannot be read'];
    throw error;
  });
  if (pages.length > 0) throw notServed(store, `is damaged: ${pages.join('; ')}`, 'cardwright sandbox reset --hard');
  const faults = await store.read(sql => (isLarge(sql) ? brokenOf(sql, BOOKS) : checkInvariants(sql)));
  if (faults.length > 0) throw notServed(store, `does not add up: ${faults.join('; ')}`, 'cardwright sandbox reset');
}

/** What the engine finds wrong with its file, a line each. */
export function damagedPages(sql: Sql): readonly string[] {
  const lines = sql.all<{ quick_check: string }>('pragma quick_check(5)');
  return lines.map(({ quick_check: line }) => line).filter(line => line !== 'ok');
}

function notServed({ path }: Store, what: string, hint: string): CliError {
  return notSent('check_failed', `the sandbox store ${path} ${what}`, {
    notes: ['It was not changed, and nothing was served from it.'],
    hint,
  });
}
