/**
 * Works that read, change and add rows by their key, some of which throw or undo a part: on both engines they see and leave
 * what they would if each of them ran alone, statement by statement.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Rows, Sql, Store, Tail, WantedRow } from '../../src/sandbox/store/sql.ts';
import { openStore, type StoreRequest } from '../../src/sandbox/store/sqlite/open.ts';
import { missing } from '../postgres/server.ts';
import { idSource, setClock } from '../support/sandbox-http.ts';
import { openAccount } from '../support/test-store.ts';

const ACCOUNT = 'acct_1';
const NAMES = ['a', 'b', 'c', 'd'] as const;
const TAIL: Tail = { table: 'counters', columns: ['account_id', 'name', 'value'], keys: 2 };
const ROW: Rows<{ readonly value: number }> = { table: 'counters', key: ['account_id', 'name'], columns: 'value' };

type Name = (typeof NAMES)[number];
type Step =
  | { readonly kind: 'row' | 'keep' | 'add' | 'remove'; readonly name: Name; readonly by: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'undone'; readonly steps: readonly Step[] };

interface Work {
  readonly steps: readonly Step[];
  readonly throws: boolean;
  readonly isRepeatable: boolean;
  readonly asks: readonly Name[];
}

/** What was seen on the way, or that it threw. */
type Seen = readonly unknown[] | 'thrown';

/** What a work does, on tables that are a map. */
interface Tables {
  row(name: Name): Promise<number | undefined>;
  /** Adds a row where there is none, else changes it. */
  keep(name: Name, value: number): Promise<void>;
  add(name: Name, by: number): Promise<number>;
  remove(name: Name): Promise<number>;
  all(): Promise<readonly unknown[]>;
  undone(work: () => Promise<void>): Promise<void>;
}

async function done(tables: Tables, steps: readonly Step[], seen: unknown[]): Promise<void> {
  for (const step of steps) {
    if (step.kind === 'all') seen.push(await tables.all());
    else if (step.kind === 'undone') await tables.undone(() => done(tables, step.steps, seen));
    else if (step.kind === 'row') seen.push(await tables.row(step.name));
    else if (step.kind === 'keep') await tables.keep(step.name, step.by);
    else if (step.kind === 'add') seen.push(await tables.add(step.name, step.by));
    else seen.push(await tables.remove(step.name));
  }
}

async function carriedOut(tables: Tables, { steps, throws }: Work): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  await done(tables, steps, seen);
  if (throws) throw new Error('as it was asked to');
  return seen;
}

/** What must be. */
class Plain implements Tables {
  values = new Map<Name, number>();
  async row(name: Name) {
    return this.values.get(name);
  }
  async keep(name: Name, value: number) {
    this.values.set(name, value);
  }
  async add(name: Name, by: number) {
    const value = this.values.get(name);
    if (value === undefined) return 0;
    this.values.set(name, value + by);
    return 1;
  }
  async remove(name: Name) {
    return this.values.delete(name) ? 1 : 0;
  }
  async all() {
    return [...this.values]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => ({ name, value }));
  }
  async undone(work: () => Promise<void>) {
    const before = new Map(this.values);
    await work();
    this.values = before;
  }
}

const storedIn = (sql: Sql): Tables => ({
  row: async name => (await sql.row(ROW, ACCOUNT, name))?.value,
  keep: async (name, value) => {
    const changed = await sql.change(ROW, { value }, ACCOUNT, name);
    if (changed === undefined) await sql.append(TAIL, ACCOUNT, name, value);
  },
  add: (name, by) =>
    sql.run('update counters set value = value + ? where account_id = ? and name = ?', by, ACCOUNT, name),
  remove: name => sql.run('delete from counters where account_id = ? and name = ?', ACCOUNT, name),
  all: () => sql.all('select name, value from counters where account_id = ? order by name', ACCOUNT),
  undone: async work => {
    await sql.run('savepoint effect');
    await work();
    await sql.run('rollback to effect');
    await sql.run('release effect');
  },
});

/** Batches one after the other, the works of a batch all at once. */
async function toldBy(store: Store, batches: readonly (readonly Work[])[]): Promise<readonly Seen[]> {
  const told: Seen[] = [];
  for (const batch of batches) {
    const ends = batch.map(work => {
      const asks = work.asks.map((name): WantedRow => ({ rows: ROW, key: [ACCOUNT, name] }));
      return store.write(sql => carriedOut(storedIn(sql), work), work.isRepeatable ? 'repeatable' : undefined, asks);
    });
    for (const end of await Promise.allSettled(ends)) told.push(end.status === 'fulfilled' ? end.value : 'thrown');
  }
  return [...told, await store.read(sql => storedIn(sql).all())];
}

async function toldPlainly(batches: readonly (readonly Work[])[]): Promise<readonly Seen[]> {
  const plain = new Plain();
  const told: Seen[] = [];
  for (const work of batches.flat()) {
    const before = new Map(plain.values);
    told.push(
      await carriedOut(plain, work).catch((): Seen => {
        plain.values = before;
        return 'thrown';
      }),
    );
  }
  return [...told, await plain.all()];
}

const name = fc.constantFrom(...NAMES);
// What another statement writes makes a store forget: it comes seldom, so that there is something to forget.
const simple: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: fc.record({ kind: fc.constantFrom('row', 'keep'), name, by: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('add', 'remove'), name, by: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'all' } as const) },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: simple },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('undone'), steps: fc.array(simple, { maxLength: 4 }) }) },
);
const work: fc.Arbitrary<Work> = fc.record({
  steps: fc.array(step, { maxLength: 5 }),
  throws: fc.integer({ min: 0, max: 2 }).map(n => n === 0),
  isRepeatable: fc.integer({ min: 0, max: 4 }).map(n => n > 0),
  asks: fc.subarray([...NAMES]),
});
const history = fc.array(fc.array(work, { minLength: 2, maxLength: 8, size: 'max' }), { minLength: 1, maxLength: 3 });
const FIRST: Work = {
  steps: [
    { kind: 'keep', name: 'a', by: 1 },
    { kind: 'keep', name: 'b', by: 2 },
  ],
  throws: false,
  isRepeatable: true,
  asks: [],
};

const request: StoreRequest = {
  ...{ path: 'memory', tables: [], seed: 1, ids: 'derived', fill: async () => undefined },
  ...{ clock: setClock(0), random: idSource, platform: 'linux' },
};

const RUNS = 100;

for (const [engine, open] of [
  ['SQLite', () => openStore(request)],
  ['PostgreSQL', () => openAccount(request, ACCOUNT)],
] as const) {
  const skips = engine === 'PostgreSQL' && missing() !== undefined;
  let store: Store;
  beforeAll(async () => {
    if (!skips) ({ store } = await open());
  });
  afterAll(() => store?.close());

  it.skipIf(skips)(`sees and leaves on ${engine} what each work alone would`, async () => {
    await fc.assert(
      fc.asyncProperty(history, async batches => {
        await store.write(sql => sql.run('delete from counters where account_id = ?', ACCOUNT));
        const all = [[FIRST], ...batches];
        expect(await toldBy(store, all)).toEqual(await toldPlainly(all));
      }),
      { numRuns: RUNS },
    );
  });
}
