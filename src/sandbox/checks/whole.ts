/** I1 to I16 one by one, for who asks which of them hold. */

import { CliError } from '../../core/errors.ts';
import { isDamage } from '../../engine/open.ts';
import type { EntryKind } from '../account/ledger.ts';
import { countAll } from '../store/account.ts';
import { withLargeCache } from '../store/bulk.ts';
import type { Store } from '../store/queue.ts';
import type { Sql } from '../store/sql.ts';
import { brokenOf, checkLedger, eventFaults, type Invariant, replayFaults, SAYS } from './ledger-check.ts';

interface InvariantResult {
  readonly id: string;
  readonly holds: boolean | null;
  readonly says: string;
}

/** By the lines of `checkInvariants`, each of which begins with the code of what it breaks. */
export function invariantResults(faults: readonly string[]): readonly InvariantResult[] {
  return Object.entries(SAYS).map(([id, says]) => {
    const broken = faults.filter(line => line.startsWith(`${id} `)).map(line => line.slice(id.length + 1));
    return { id, holds: broken.length === 0, says: broken.length === 0 ? says : broken.join('; ') };
  });
}

/** Of a damaged file nobody asks them. */
export function uncheckedInvariants(): readonly InvariantResult[] {
  return Object.entries(SAYS).map(([id, says]) => ({ id, holds: null, says }));
}

// Everything of docs/design/sandbox.md, section 8, that stored data can show. I1 to I10 are the ledger's; here are I11 to I16: what the books say about approvals, and what events and stored answers say about the books.

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
    union all select ref, null, kind from entries where kind in (${quoted(KINDS)})) told
  group by ref having ${Object.entries(MOVED)
    .flatMap(([thing, { once, also = [] }]) => [
      `${times(`kind = '${once}'`)} <> ${times(`thing = '${thing}'`)}`,
      ...(also.length === 0
        ? []
        : [`(${times(`kind in (${quoted(also)})`)} > 0 and ${times(`thing = '${thing}'`)} = 0)`]),
    ])
    .join(' or ')}`;

const APPROVALS: readonly Invariant[] = [
  {
    id: 'I11',
    says: 'no authorization is above the limit of its BIN for one transaction',
    statement: `select t.id as culprit from transactions t
      join cards c on c.id = t.card_id
      join bins b on b.id = c.bin_id
      where t.type = 'authorization' and t.amount > b.max_transaction`,
  },
  {
    id: 'I11',
    says: 'no approval took more than the card had',
    statement: `select e.ref as culprit from (
        select p.entry_id, p.ledger, sum(p.amount) over (partition by p.ledger order by p.entry_id) as after
        from postings p) r
      join entries e on e.id = r.entry_id
      where e.kind in ('authorize', 'increment') and r.ledger like 'card:%' and r.after < 0`,
  },
  {
    id: 'I11',
    says: 'approvals of a month stay within the monthly limit',
    // What is held and was settled within its hold was once checked against the limit (A-161).
    statement: `select a.month || ' ' || c.id as culprit from (
        select card_id, strftime('%Y-%m', created_at / 1000, 'unixepoch') as month, sum(held + settled - excess) as used
        from transactions not indexed where type = 'authorization' group by card_id, month) a
      join cards c on c.id = a.card_id where a.used > c.spending_limit`,
  },
  {
    id: 'I12',
    says: 'every entry is about something that moved money, and each such thing moved it once',
    statement: MISMATCHED,
  },
  {
    id: 'I16',
    says: 'nothing moves on a card after its end but holds that settle or are given back',
    statement: `select distinct t.ref as culprit from postings p
      join (select 'card:' || ref as ledger, ref, id from entries where kind = 'terminate') t
        on t.ledger = p.ledger
      where p.entry_id > t.id`,
  },
];

/** What does not hold of I1 to I16, one line an invariant. Empty when all is well. */
export function checkInvariants(sql: Sql): string[] {
  return withLargeCache(sql, () => [
    ...checkLedger(sql),
    ...brokenOf(sql, APPROVALS),
    ...replayFaults(sql),
    ...eventFaults(sql),
  ]);
}

// The look at a store before it is served to others: its pages, then its books.

/** Transactions and events; so many are looked through in a moment, and of so many a person begins to wonder. */
const LOOKED_THROUGH_AT_ONCE = 10_000;
const LONG_TO_LOOK_THROUGH = 50_000;

export function isLarge(sql: Sql): boolean {
  return recordsOf(sql) > LOOKED_THROUGH_AT_ONCE;
}

function recordsOf(sql: Sql): number {
  const { transactions, events } = countAll(sql);
  return transactions + events;
}

/**
 * The pages and I1 to I10 of any store, and I11 to I16 of one that is not large, for nobody waits a minute for a
 * server. At every start anew (docs/design/sandbox.md, section 11): what was found last time says nothing of what
 * befell the file since. `onLong` is told how many records there are where it takes more than a second or so. Resolves
 * to whether all was looked at. Throws `check_failed` naming what is wrong; nothing is changed.
 */
export async function checkWhole(store: Store, onLong: (records: number) => void = () => undefined): Promise<boolean> {
  const unlessDamaged =
    <T>(otherwise: T) =>
    (error: unknown): T => {
      if (isDamage(error)) return otherwise;
      throw error;
    };
  // Counted before anything else: the engine gives no turn while it looks.
  const records = await store.read(sql => recordsOf(sql)).catch(unlessDamaged(0));
  if (records > LONG_TO_LOOK_THROUGH) onLong(records);
  const pages = await store.read(damagedPages).catch(unlessDamaged(['its pages cannot be read']));
  if (pages.length > 0) throw notServed(store, `is damaged: ${pages.join('; ')}`, 'cardwright sandbox reset --hard');
  const { isAll, faults } = await store.read(sql => {
    const isAll = !isLarge(sql);
    return { isAll, faults: (isAll ? checkInvariants : checkLedger)(sql) };
  });
  if (faults.length > 0) throw notServed(store, `does not add up: ${faults.join('; ')}`, 'cardwright sandbox reset');
  return isAll;
}

/** What the engine finds wrong with its file, a line each. */
export function damagedPages(sql: Sql): readonly string[] {
  const lines = sql.all<{ quick_check: string }>('pragma quick_check(5)');
  return lines.map(({ quick_check: line }) => line).filter(line => line !== 'ok');
}

function notServed({ path }: Store, what: string, hint: string): CliError {
  return new CliError('check_failed', {
    message: `the sandbox store ${path} ${what}`,
    notes: ['It was not changed, and nothing was served from it.'],
    hint,
    outcome: 'not_sent',
  });
}
