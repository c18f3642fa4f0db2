/**
 * What the program gets in place of SQLite. The engine is the real one; processes take turns at it, and each sees the transaction
 * of another as a file that is busy.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
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

/** A file of SQLite, or a database in memory: all processes share one connection of the engine, and prepare a statement once. */
export class Store {
  readonly engine: Engine;
  readonly #statements = new Map<string, Prepared>();
  /** Whoever is within a transaction: for others the file is busy. */
  owner: object | undefined;
  #isBegun = false;

  constructor(path = ':memory:') {
    this.engine = new sqlite.DatabaseSync(path);
    this.engine.exec('pragma foreign_keys = on; pragma synchronous = off; pragma journal_mode = memory');
    this.engine.exec('pragma locking_mode = exclusive');
  }

  prepared(text: string): Prepared {
    if (!text.startsWith('select')) this.#writes();
    return this.#statement(text);
  }

  exec(text: string): void {
    this.#writes();
    this.engine.exec(text);
  }

  #writes(): void {
    if (this.owner === undefined || this.#isBegun) return;
    this.#statement('begin').run();
    this.#isBegun = true;
  }

  #statement(text: string): Prepared {
    const statement = this.#statements.get(text) ?? this.engine.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }

  /** What it runs in a transaction is seen by nobody else: the engine is told of one with the first statement that is not a `select`. */
  begin(owner: object): void {
    this.owner = owner;
  }

  end(how: 'commit' | 'rollback'): void {
    if (this.#isBegun) this.#statement(how).run();
    this.#isBegun = false;
    this.owner = undefined;
  }
}

const stores = new Map<string, Store>();

function storeOf(path: string): Store {
  const known = stores.get(path);
  if (known !== undefined && fs.existsSync(path)) return known;
  known?.engine.close();
  const store = new Store(path);
  stores.set(path, store);
  return store;
}

/** Removes a home. */
export function removeHome(home: string): void {
  for (const [path, { engine }] of stores) {
    if (!path.startsWith(`${home}/`)) continue;
    engine.close();
    stores.delete(path);
  }
  removeFolder(home);
}

/** What Node does for that first tries to remove each folder as it is, which takes three times as long. */
function removeFolder(folder: string): void {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) removeFolder(path);
    else fs.unlinkSync(path);
  }
  fs.rmdirSync(folder);
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
      if (text.startsWith('begin') && text.endsWith('commit')) this.#store.exec(text);
      else if (text.startsWith('begin')) this.#store.begin(this);
      else if (text === 'commit' || text === 'rollback') this.#store.end(text);
      else if (!text.startsWith('pragma')) this.#store.exec(text);
    });
  }
  prepare(text: string) {
    const store = this.#store;
    const run = (...values: unknown[]) => this.#do(() => store.prepared(text).run(...values));
    const all = (...values: unknown[]) => this.#do(() => store.prepared(text).all(...values));
    const iterate = (...values: unknown[]) => all(...values).values();
    return { run, all, iterate, get: (...values: unknown[]) => all(...values)[0] };
  }
  close(): void {
    if (this.isTransaction) this.#store.end('rollback');
    this.#who.connections.delete(this);
  }
}
