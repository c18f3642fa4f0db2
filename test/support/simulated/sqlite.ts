/**
 * What the program gets in place of SQLite. The engine is the real one; processes take turns at it, and each sees the transaction
 * of another as a file that is busy.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { effectNow, self } from './world.ts';

interface Prepared {
  all(...values: unknown[]): Readonly<Record<string, unknown>>[];
  run(...values: unknown[]): { readonly changes: number | bigint };
}
interface Engine {
  exec(text: string): void;
  prepare(text: string): Prepared;
  function(name: string, work: (...given: unknown[]) => unknown): void;
  close(): void;
}

const sqlite = createRequire(import.meta.url)('@photostructure/sqlite') as {
  readonly DatabaseSync: new (path: string) => Engine;
};

/**
 * A file of SQLite, or a database in memory: all processes share one connection of the engine, and prepare a statement once. What
 * takes most of its time is to make tables and prepare statements, so a history gets those of an earlier one, and empty ones.
 */
export class Store {
  readonly engine: Engine;
  /** The tables of an earlier history stand, and whoever asks for them sees none before he makes them. */
  #isUsed = false;
  readonly #statements = new Map<string, Prepared>();
  /** Whoever is within a transaction: for others the file is busy. */
  owner: object | undefined;

  constructor(path = ':memory:') {
    this.engine = new sqlite.DatabaseSync(path);
    this.engine.exec('pragma foreign_keys = on; pragma synchronous = off; pragma journal_mode = memory');
    // Nothing of one history is left in the file of the next.
    this.engine.exec('pragma locking_mode = exclusive; pragma secure_delete = on');
  }

  #prepared(text: string): Prepared {
    const statement = this.#statements.get(text) ?? this.engine.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }

  all(text: string, ...values: unknown[]): Readonly<Record<string, unknown>>[] {
    const isOfTables = this.#isUsed && text.includes('sqlite_master');
    if (isOfTables && this.#prepared('select 1 from meta').all().length === 0) return [];
    return this.#prepared(text).all(...values);
  }

  run(text: string, ...values: unknown[]): number {
    return Number(this.#prepared(text).run(...values).changes);
  }

  exec(text: string): void {
    if (!this.#isUsed || !text.startsWith('create')) this.engine.exec(text);
  }

  begin(owner: object): void {
    this.run('begin');
    this.owner = owner;
  }

  end(how: 'commit' | 'rollback'): void {
    this.run(how);
    this.owner = undefined;
  }

  /** For the next history; false where nobody has made its tables. */
  empty(): boolean {
    if (this.owner !== undefined) this.end('rollback');
    const tables = this.#prepared("select name from sqlite_master where type = 'table'").all();
    this.run('begin');
    // A row goes before those that it refers to.
    for (const { name } of tables.toReversed()) this.run(`delete from ${name}`);
    this.run('commit');
    this.#isUsed = tables.length > 0;
    return this.#isUsed;
  }
}

const stores = new Map<string, Store>();
/** Empty ones, with the files that they are in. */
const spare: (readonly [file: string, store: Store])[] = [];
let files = 0;

function storeOf(path: string): Store {
  const known = stores.get(path);
  if (known !== undefined && fs.existsSync(path)) return known;
  known?.engine.close();
  const isNew = !fs.existsSync(path) || fs.statSync(path).size === 0;
  const [file, used] = (isNew && spare.pop()) || [];
  if (file !== undefined) fs.renameSync(file, path);
  const store = used ?? new Store(path);
  stores.set(path, store);
  return store;
}

/** Removes a home. `isKept`: its databases lie beside it then, empty, for the next one. */
export function removeHome(home: string, isKept = false): void {
  for (const [path, store] of stores) {
    if (!path.startsWith(`${home}/`)) continue;
    stores.delete(path);
    if (isKept && fs.existsSync(path) && store.empty()) {
      const file = join(home, '..', `spare-${++files}`);
      fs.renameSync(path, file);
      spare.push([file, store]);
    } else store.engine.close();
  }
  fs.rmSync(home, { recursive: true, force: true });
}

/** A connection of one process. The system closes it with the process, which ends its transaction. */
export class DatabaseSync {
  readonly #store: Store;
  readonly #who = self();
  constructor(path: string) {
    this.#store = effectNow(() => storeOf(path));
    this.#who.connections.add(this);
  }
  get isTransaction(): boolean {
    return this.#store.owner === this;
  }
  #do<T>(work: () => T): T {
    return effectNow(() => {
      const { owner } = this.#store;
      if (owner === undefined || owner === this) return work();
      throw Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
    });
  }
  exec(text: string): void {
    this.#do(() => {
      if (text.startsWith('begin')) this.#store.begin(this);
      else if (text === 'commit' || text === 'rollback') this.#store.end(text);
      else if (!text.startsWith('pragma')) this.#store.exec(text);
    });
  }
  prepare(text: string) {
    const store = this.#store;
    const run = (...values: unknown[]) => this.#do(() => ({ changes: store.run(text, ...values) }));
    const all = (...values: unknown[]) => this.#do(() => store.all(text, ...values));
    const iterate = (...values: unknown[]) => all(...values).values();
    return { run, all, iterate, get: (...values: unknown[]) => all(...values)[0] };
  }
  close(): void {
    if (this.isTransaction) this.#store.end('rollback');
    this.#who.connections.delete(this);
  }
}
