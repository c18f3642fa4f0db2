/**
 * Transactions on lists, carried out by the store from several connections at once. Half of the lists are rows that are
 * only added to, as events are; the others one document each, which is read, made longer and written back.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../../src/sandbox/store/open.ts';
import { TABLES } from '../../../src/sandbox/store/schema.ts';
import { type Sql, type Store, StoreBusy } from '../../../src/sandbox/store/sql.ts';
import { random, realClock } from '../../support/clocks.ts';
import type { Step, Transaction } from '../../support/list-append/history.ts';
import { Chance } from '../../support/model/steps.ts';

/** Connections to one store, as that many processes have them. */
export interface Connected extends AsyncDisposable {
  readonly stores: readonly Store[];
}

const COUNT = 3;

/** Opens them with the store as it is, or with a mutant's. */
export async function connected(open = openStore): Promise<Connected> {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-lists-'));
  const stores: Store[] = [];
  for (let at = 0; at < COUNT; at += 1) {
    const { store } = await open({
      ...{ path: join(folder, 'store.db'), tables: TABLES, seed: 1, ids: 'derived', fill: async () => undefined },
      ...{ clock: realClock, random, platform: process.platform },
    });
    stores.push(store);
  }
  const close = async () => {
    for (const store of stores) await store.close();
    await rm(folder, { recursive: true });
  };
  return { stores, [Symbol.asyncDispose]: close };
}

/** How many of the transactions were carried out. */
export const committedShare = (history: readonly Transaction[]) =>
  history.filter(({ outcome }) => outcome === 'committed').length / history.length;

export interface Workload {
  readonly seed: number;
  readonly transactions: number;
  /** Of each connection. */
  readonly workers: number;
}

/** Appends to a list before others take its place: long lists cost time and tell no more. */
const APPENDS = 24;
/** Lists in use at once. */
const LISTS = 6;
const UNDONE = new Error('not wanted');

/** Carries out transactions at random, and at last one that reads every list. The callers' view of them. */
export async function carriedOut({ stores }: Connected, workload: Workload): Promise<readonly Transaction[]> {
  const { workers, transactions } = workload;
  const plans = planned(workload);
  const history: Transaction[] = [];
  let moment = 0;
  const one = async (store: Store, plan: Plan) => {
    moment += 1;
    const began = moment;
    let steps: readonly Step[] = [];
    const work = async (sql: Sql) => {
      // A transaction that was begun anew has read nothing yet.
      steps = [];
      steps = await done(sql, plan);
      if (plan.isUndone) throw UNDONE;
    };
    const outcome = await outcomeOf(plan.reads ? store.read(work) : store.write(work));
    moment += 1;
    history.push({ steps: outcome === 'committed' ? steps : appendsOf(plan), outcome, began, ended: moment });
  };
  const worker = async (store: Store) => {
    for (let plan = plans.next(); plan !== undefined; plan = plans.next()) await one(store, plan);
  };
  await Promise.all(stores.flatMap(store => Array.from({ length: workers }, () => worker(store))));
  const [first] = stores;
  if (first !== undefined) await one(first, { steps: plans.lists(), reads: true, isUndone: false });
  if (history.length !== transactions + 1) throw new Error(`${history.length} transactions came to an end`);
  return history;
}

interface Plan {
  readonly steps: readonly ({ readonly append: number; readonly value: number } | { readonly read: number })[];
  readonly reads: boolean;
  readonly isUndone: boolean;
}

function planned({ seed, transactions }: Workload) {
  const chance = new Chance(seed);
  let [begun, value] = [0, 0];
  const lists = Array.from({ length: LISTS }, (_, at) => ({ name: at, appends: 0 }));
  let newest = LISTS - 1;
  const append = () => {
    const at = chance.below(LISTS);
    const list = lists[at] as (typeof lists)[number];
    list.appends += 1;
    value += 1;
    if (list.appends >= APPENDS) {
      newest += 1;
      lists[at] = { name: newest, appends: 0 };
    }
    return { append: list.name, value };
  };
  const plan = (): Plan => {
    const reads = chance.chance(25);
    const count = 1 + chance.below(4);
    const steps = Array.from({ length: count }, () =>
      reads || chance.chance(50) ? { read: chance.pick(lists)?.name ?? 0 } : append(),
    );
    const isUndone = !reads && chance.chance(10);
    return { steps, reads, isUndone };
  };
  return {
    next: () => {
      begun += 1;
      return begun > transactions ? undefined : plan();
    },
    lists: () => Array.from({ length: newest + 1 }, (_, read) => ({ read })),
  };
}

const keyOf = (list: number) => `list ${list}`;

/** What was meant, of a transaction whose reads tell nothing. */
const appendsOf = ({ steps }: Plan): readonly Step[] =>
  steps.flatMap(step => ('append' in step ? [{ append: keyOf(step.append), value: step.value }] : []));

async function done(sql: Sql, { steps }: Plan): Promise<readonly Step[]> {
  const did: Step[] = [];
  for (const step of steps) {
    if ('append' in step) {
      await (step.append % 2 === 0 ? appendRow : appendToDocument)(sql, step.append, step.value);
      did.push({ append: keyOf(step.append), value: step.value });
    } else {
      const list = await (step.read % 2 === 0 ? rows : document)(sql, step.read);
      did.push({ read: keyOf(step.read), list });
    }
  }
  return did;
}

async function appendRow(sql: Sql, list: number, value: number): Promise<void> {
  await sql.insert('events', { id: `evt ${value}`, type: keyOf(list), created_at: 0, body: String(value) });
}

async function rows(sql: Sql, list: number): Promise<readonly number[]> {
  const found = await sql.all<{ body: string }>('select body from events where type = ? order by seq', keyOf(list));
  return found.map(({ body }) => Number(body));
}

async function appendToDocument(sql: Sql, list: number, value: number): Promise<void> {
  const longer = JSON.stringify([...(await document(sql, list)), value]);
  await sql.run(
    `insert into decline_facts (transaction_id, facts) values (?, ?)
     on conflict (transaction_id) do update set facts = excluded.facts`,
    keyOf(list),
    longer,
  );
}

/** Remembered, where the store remembers. */
async function document(sql: Sql, list: number): Promise<readonly number[]> {
  const [row] = await sql.known<{ facts: string }>(
    'select facts from decline_facts where transaction_id = ?',
    keyOf(list),
  );
  return row === undefined ? [] : JSON.parse(row.facts);
}

/** `undone` for what did not happen for sure. Throws for a failure that no caller would get. */
async function outcomeOf(ended: Promise<void>): Promise<Transaction['outcome']> {
  try {
    await ended;
    return 'committed';
  } catch (error) {
    const { name } = error as Error;
    // Not by its class: a mutant has classes of its own.
    if (error === UNDONE || name === StoreBusy.name) return 'undone';
    throw error;
  }
}
