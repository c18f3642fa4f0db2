/**
 * What the bundle of `program.ts` gets in place of Node's modules, SQLite and the client of undici. Each does what the real one
 * does for the process whose turn it is.
 */
import crypto from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import realProcess from 'node:process';
import type { Reply } from './service.ts';
import { effect, effectNow, Gone, runningHere, START, self, sleep, turnOf } from './world.ts';

type Call = (...asked: unknown[]) => unknown;

// Time

class Timer {
  #due: { isOff: boolean } | undefined;
  constructor(call: () => void, ms: number, isRepeated = false) {
    const who = turnOf();
    const begin = () => {
      this.#due = who?.world.after(ms, who, () => {
        if (isRepeated) begin();
        call();
      });
    };
    begin();
  }
  close(): void {
    if (this.#due) this.#due.isOff = true;
  }
  ref = () => this;
  unref = () => this;
}

const clear = (timer: unknown) => timer instanceof Timer && timer.close();
const timers = {
  setTimeout: (call: Call, ms = 1, ...given: unknown[]) => new Timer(() => call(...given), Math.max(1, ms)),
  clearTimeout: clear,
  setInterval: (call: () => void, ms: number) => new Timer(call, Math.max(1, ms), true),
  clearInterval: clear,
  setImmediate(call: Call, ...given: unknown[]) {
    const world = turnOf()?.world;
    return new Timer(() => call(...given), world && world.running.size > 1 ? world.chance.fraction() * 0.4 : 0);
  },
  clearImmediate: clear,
};

function timeoutSignal(ms: number): AbortSignal {
  const stopping = new AbortController();
  timers.setTimeout(() => stopping.abort(new DOMException('aborted due to timeout', 'TimeoutError')), ms);
  return stopping.signal;
}

// Files

const CHANGES = /^(?:append|chmod|copy|fchmod|ftruncate|link|mkdir|rename|rm|symlink|truncate|unlink|write)/;

const isChange = (name: string, asked: readonly unknown[]) =>
  name.startsWith('open') ? ![undefined, 'r', fs.constants.O_RDONLY].includes(asked[1] as string) : CHANGES.test(name);

/** Files that tell of processes: each machine has its own. Undefined for all others. */
function told(path: unknown): string | undefined {
  if (typeof path !== 'string' || !path.startsWith('/proc/')) return undefined;
  const who = self();
  const { name, boot } = who.started.machine;
  if (path === '/proc/sys/kernel/random/boot_id') return `${boot}\n`;
  if (path === '/proc/self/ns/pid') return `pid:[${name}]`;
  const pid = Number(/^\/proc\/(\d+|self)\/stat$/.exec(path)?.[1]?.replace('self', String(who.pid)));
  const started = pid === 1 ? 1 : runningHere(pid)?.startedAt;
  if (started === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT', errno: -2 });
  return `${pid} (node) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 ${started} 0 0\n`;
}

const above = new Map<string, unknown>();

/** A call of the disk by its name. Nothing here survives a loss of power, so nothing is synced. */
function onDisk(name: string, asked: unknown[]): unknown {
  const [path] = asked;
  const who = turnOf();
  if (/^f(?:data)?syncSync$/.test(name) || who === undefined) return undefined;
  const known = told(path);
  if (known !== undefined) return known;
  const call = () => (fs as unknown as Record<string, Call>)[name]?.(...asked);
  // Folders above of all homes are looked at by every command, and never change.
  if (name === 'lstatSync' && typeof path === 'string' && path.length < who.started.home.length) {
    if (!above.has(path)) above.set(path, call());
    return above.get(path);
  }
  const result = call();
  if (name === 'openSync') who.files.add(result as number);
  if (name === 'closeSync') who.files.delete(path as number);
  return result;
}

const onDiskLater = (name: string, asked: unknown[]) =>
  effect(() => onDisk(name, asked), isChange(name, asked) ? 'change' : 'reading');

/** An open file: its methods are those of the disk that take its number. */
function handle(fd: number): object {
  const ofNumber = new Set(['stat', 'truncate', 'chmod', 'sync', 'datasync']);
  const methods = {
    fd,
    read: async (buffer: Buffer, ...place: unknown[]) => ({
      bytesRead: await onDiskLater('readSync', [fd, buffer, ...place]),
      buffer,
    }),
    write: async (data: unknown, ...place: unknown[]) => ({
      bytesWritten: await onDiskLater('writeSync', [fd, data, ...place]),
    }),
    [Symbol.asyncDispose]: () => onDiskLater('closeSync', [fd]),
  };
  return new Proxy(methods, {
    get: (known, name: string) =>
      name in known || typeof name !== 'string' || name === 'then'
        ? Reflect.get(known, name)
        : (...asked: unknown[]) => onDiskLater(`${ofNumber.has(name) ? 'f' : ''}${name}Sync`, [fd, ...asked]),
  });
}

const promised = new Proxy(fs.promises, {
  get(target, name: string) {
    if (name === 'open') return async (...asked: unknown[]) => handle((await onDiskLater('openSync', asked)) as number);
    return `${name}Sync` in fs ? (...asked: unknown[]) => onDiskLater(`${name}Sync`, asked) : Reflect.get(target, name);
  },
});

const files = new Proxy(fs, {
  get(target, name: string) {
    const found = Reflect.get(target, name);
    if (name === 'promises') return promised;
    if (typeof found !== 'function' || /^[A-Z_]|^create|^watch/.test(name)) return found;
    if (name.endsWith('Sync'))
      return (...asked: unknown[]) =>
        isChange(name, asked) ? effectNow(() => onDisk(name, asked)) : onDisk(name, asked);
    return (...asked: unknown[]) => {
      const done = asked.pop() as (error: unknown, result?: unknown) => void;
      onDiskLater(`${name}Sync`, asked).then(result => done(null, result), done);
    };
  },
});

// SQLite

interface Prepared {
  all(...values: unknown[]): Readonly<Record<string, unknown>>[];
  run(...values: unknown[]): { readonly changes: number | bigint };
}
export interface Engine {
  exec(text: string): void;
  prepare(text: string): Prepared;
  function(name: string, work: (...given: unknown[]) => unknown): void;
  close(): void;
}

const sqlite = createRequire(import.meta.url)('@photostructure/sqlite') as {
  readonly DatabaseSync: new (path: string) => Engine;
};

/**
 * A database in memory. It is used again, for another file or history: then its tables are there and empty, and its statements
 * prepared; whoever makes tables gets those.
 */
export class Store {
  readonly #functions: Readonly<Record<string, (given: unknown) => unknown>>;
  engine: Engine;
  readonly #statements = new Map<string, Prepared>();
  /** Texts that make tables and indexes, in their order. */
  readonly #made = new Set<string>();
  /** Whether the tables are there for whoever asks, and whether they were when the transaction began. */
  isMade = false;
  #wasMade = false;
  /** The connection that is within a transaction: others find the file busy. */
  owner: object | undefined;

  constructor(functions: Readonly<Record<string, (given: unknown) => unknown>> = {}) {
    this.#functions = functions;
    this.engine = this.#opened();
  }

  #opened(): Engine {
    const engine = new sqlite.DatabaseSync(':memory:');
    engine.exec('pragma foreign_keys = on');
    for (const [name, work] of Object.entries(this.#functions)) engine.function(name, work);
    return engine;
  }

  prepared(text: string): Prepared {
    const statement = this.#statements.get(text) ?? this.engine.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }

  begin(owner: object): void {
    this.prepared('begin').run();
    this.owner = owner;
    this.#wasMade = this.isMade;
  }

  commit(): void {
    this.prepared('commit').run();
    this.owner = undefined;
  }

  rollback(): void {
    this.engine.exec('rollback');
    this.owner = undefined;
    if (this.isMade === this.#wasMade) return;
    // What it made is gone with it, and before it there was nothing.
    this.isMade = false;
    this.engine.close();
    this.engine = this.#opened();
    this.#statements.clear();
    this.#made.clear();
  }

  make(text: string): void {
    if (!this.#made.has(text)) this.engine.exec(text);
    this.#made.add(text);
    this.isMade = true;
  }

  get #tables(): readonly string[] {
    return [...this.#made].flatMap(text => /^create table (\w+)/.exec(text)?.[1] ?? []);
  }

  clear(): void {
    if (this.owner !== undefined) this.rollback();
    this.isMade = false;
    for (const table of this.#tables.toReversed()) this.prepared(`delete from ${table}`).run();
  }

  fill(from: Store): void {
    for (const text of from.#made) this.make(text);
    this.isMade = from.isMade;
    for (const table of from.#tables) {
      for (const row of from.prepared(`select * from ${table}`).all()) {
        const values = Object.values(row);
        this.prepared(`insert into ${table} values (${values.map(() => '?').join()})`).run(...values);
      }
    }
  }

  /** All that is in it. */
  text(): string {
    return JSON.stringify(this.#tables.map(table => this.prepared(`select * from ${table}`).all()));
  }
}

const opened = new Map<string, Store>();
const free: Store[] = [];

function storeOf(path: string): Store {
  const known = opened.get(path);
  if (known !== undefined && fs.existsSync(path)) return known;
  if (known !== undefined) release(path, known);
  // Which file it is tells a journal from its copy.
  fs.closeSync(fs.openSync(path, 'a', 0o600));
  const store = free.pop() ?? new Store();
  opened.set(path, store);
  return store;
}

function release(path: string, store: Store): void {
  store.clear();
  free.push(store);
  opened.delete(path);
}

/** The databases of a home, each with its path within that. */
export const databasesOf = (home: string): readonly (readonly [string, Store])[] =>
  [...opened].flatMap(([path, store]) => (path.startsWith(`${home}/`) ? [[path.slice(home.length), store]] : []));

/** Removes a home. */
export function removeHome(home: string): void {
  for (const [path, store] of databasesOf(home)) release(home + path, store);
  fs.rmSync(home, { recursive: true, force: true });
}

/** Makes a home as it is somewhere else. */
export function copyHome(from: string, to: string): void {
  removeHome(to);
  fs.cpSync(from, to, { recursive: true, preserveTimestamps: true });
  for (const [path, store] of databasesOf(from)) storeOf(to + path).fill(store);
}

/** A connection of one process. The system closes it with the process, which ends its transaction. */
class DatabaseSync {
  readonly #store: Store;
  readonly #who = self();
  constructor(path: string) {
    this.#store = effectNow(() => storeOf(path));
    this.#who.databases.add(this);
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
      if (text.startsWith('pragma')) return;
      if (text.startsWith('begin')) this.#store.begin(this);
      else if (text === 'commit' || text === 'rollback') this.#store[text]();
      else if (text.startsWith('create')) this.#store.make(text);
      else this.#store.engine.exec(text);
    });
  }
  prepare(text: string) {
    const store = this.#store;
    const isOfTables = text.includes('sqlite_master');
    const run = (...values: unknown[]) => this.#do(() => store.prepared(text).run(...values));
    const all = (...values: unknown[]) =>
      this.#do(() => (isOfTables && !store.isMade ? [] : store.prepared(text).all(...values)));
    return { run, all, get: (...values: unknown[]) => all(...values)[0] };
  }
  close(): void {
    if (this.isTransaction) this.#store.rollback();
    this.#who.databases.delete(this);
  }
}

// HTTP

/** In place of undici's client: one connection to the service. */
class Client {
  readonly #who = self();
  #isConnected = false;
  #isOver = false;

  dispatch({ method, path, headers, body, headersTimeout }: Asked, heard: Heard): void {
    const who = this.#who;
    const { world } = who;
    const service = world.service;
    const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    let isHeard = false;
    const hear = (ms: number, tell: () => void) =>
      void world.after(ms, who, () => {
        if (!this.#isOver) tell();
      });
    const fail = (code: string) => {
      isHeard = true;
      heard.onResponseError(undefined, Object.assign(new Error(code), { code, syscall: 'read' }));
    };
    const take = ({ kept, status, headers: answered, text }: Reply) => {
      if (kept === 'silent') return;
      hear(service.latency(), () => {
        if (isHeard) return;
        if (kept === 'lost') return fail('ECONNRESET');
        isHeard = true;
        heard.onResponseStart(undefined, status, answered);
        const bytes = Buffer.from(text);
        if (kept === 'cut') {
          heard.onResponseData(undefined, bytes.subarray(0, -20));
          return hear(5, () => fail('ECONNRESET'));
        }
        if (bytes.length > 0) heard.onResponseData(undefined, bytes);
        heard.onResponseEnd(undefined, {});
      });
    };
    hear(this.#isConnected ? 0 : service.latency(), () => {
      this.#isConnected = true;
      heard.onRequestStart(undefined, undefined);
      if (method !== 'GET') who.sends();
      try {
        // What was sent arrives, whatever becomes of who sent it.
        effectNow(() => {
          const there = Math.max(who.thawAt, world.now) + service.latency();
          world.after(there - world.now, undefined, () =>
            service.take({ method, path, headers: named, text: body ?? '', who, answer: take }),
          );
        });
      } catch (thrown) {
        if (thrown instanceof Gone) return;
        throw thrown;
      }
      if (headersTimeout > 0) hear(headersTimeout, () => isHeard || fail('UND_ERR_HEADERS_TIMEOUT'));
    });
  }
  destroy(): void {
    this.#isOver = true;
  }
  async close(): Promise<void> {}
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly headersTimeout: number;
}
type Heard = Readonly<
  Record<'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd' | 'onResponseError', Call>
>;

// Chance, system, process

const bytes = (count: number) => Buffer.from(turnOf()?.started.chance.bytes(count) ?? crypto.randomBytes(count));
const own = {
  ...crypto,
  randomBytes: bytes,
  randomFillSync: (into: Uint8Array) => {
    into.set(bytes(into.length));
    return into;
  },
  randomUUID: () =>
    bytes(16)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
};

const process = new Proxy(realProcess, {
  get(target, name: string) {
    const who = turnOf();
    switch (name) {
      case 'pid':
        return who?.pid ?? 1;
      case 'env':
        return who?.started.env ?? {};
      case 'getBuiltinModule':
        return (module: string) =>
          module.endsWith('sqlite') ? undefined : (modules[module] ?? target.getBuiltinModule(module as 'node:fs'));
      case 'kill':
        return (pid: number) => {
          if (runningHere(pid) === undefined) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
          return true;
        };
      case 'dlopen':
        return (module: { exports: unknown }) => {
          module.exports = { DatabaseSync };
        };
      case 'on':
      case 'once':
      case 'off':
        return () => process;
      default:
        return Reflect.get(target, name, target);
    }
  },
});

/** What is kept along a call, for the library of prompts. Node's own makes each promise of the process slower from then on. */
let along: unknown;
function runWith<T>(kept: unknown, work: () => T): T {
  const before = along;
  along = kept;
  try {
    return work();
  } finally {
    along = before;
  }
}

const modules: Readonly<Record<string, unknown>> = {
  'node:fs': files,
  'node:fs/promises': promised,
  'node:async_hooks': {
    AsyncLocalStorage: class {
      run = runWith;
      getStore = () => along;
    },
    AsyncResource: {
      bind(call: Call) {
        const kept = along;
        return (...asked: unknown[]) => runWith(kept, () => call(...asked));
      },
    },
  },
  'node:os': {
    ...os,
    hostname: () => turnOf()?.started.machine.name ?? 'nobody',
    homedir: () => turnOf()?.started.home ?? '/nowhere',
    tmpdir: () => turnOf()?.started.home ?? os.tmpdir(),
  },
  'node:crypto': own,
  'node:process': process,
  'node:timers': timers,
  'node:timers/promises': {
    setTimeout: (ms: number, _value: unknown, how?: { signal?: AbortSignal }) => sleep(ms, how?.signal),
  },
  'undici/lib/dispatcher/client.js': Client,
  'undici/lib/core/connect.js': () => undefined,
};

/** What the bundle is given. */
export const platform = {
  modules,
  process,
  ...timers,
  timeoutSignal,
  dateNow: () => turnOf()?.wall() ?? START,
  monotonic: () => turnOf()?.world.now ?? 0,
  random: () => turnOf()?.started.chance.fraction() ?? Math.random(),
  randomValues: own.randomFillSync,
};
