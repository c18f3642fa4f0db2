/**
 * A simulated world for the program: machines, processes, files, SQLite, sockets and time. The bundle of `program.ts` gets
 * these modules in place of Node's. Everything that a process does to its surroundings is an effect, and at any effect it can
 * die or stand still. One process runs at a time, until it waits; so the same history always runs in the same order.
 */
import crypto from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import realProcess from 'node:process';
import { Duplex } from 'node:stream';
import type { Postgres } from './postgres.ts';

/** Chance that can be repeated: xorshift32. */
export class Chance {
  #state: number;
  constructor(seed: number) {
    this.#state = (Math.imul(seed ^ 0x9e3779b9, 2_654_435_761) | 1) >>> 0;
    for (let round = 0; round < 8; round += 1) this.fraction();
  }
  /** In [0, 1). */
  fraction(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return this.#state / 2 ** 32;
  }
  below(count: number): number {
    return Math.floor(this.fraction() * count);
  }
  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
  is(probability: number): boolean {
    return this.fraction() < probability;
  }
  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }
}

/** A moment at which a process dies, is stopped by Ctrl-C, or stands still. */
export interface Fate {
  readonly how: 'dies' | 'stands still' | 'is interrupted';
  /** Counted from the start of the process, or from the n-th request that changes something: its effect number. */
  readonly from: 'start' | 'write';
  /** Of the request, from 1. */
  readonly nth: number;
  /** Effects after that. 0: the effect itself. */
  readonly effect: number;
  /** Whether the effect is still done. */
  readonly when: 'before' | 'after';
  readonly ms: number;
}

/** What a dead process gets where it cannot be kept waiting. */
export class Gone extends Error {
  override readonly name = 'Gone';
}

const never = () => new Promise<never>(() => undefined);

export interface Machine {
  readonly name: string;
  readonly boot: string;
  /** ms that its wall clock is ahead. */
  ahead: number;
}

/** One process: what it has open, and what became of it. */
export class Process {
  readonly pid: number;
  readonly started: number;
  effects = 0;
  writes = 0;
  isDead = false;
  /** It died by its fate. */
  wasKilled = false;
  thawAt = 0;
  /** What was typed. */
  line = '';
  readonly files = new Set<number>();
  readonly databases = new Set<{ close(): void }>();
  readonly sockets = new Set<Socket>();
  readonly listeners = new Map<string, Set<(message: unknown) => void>>();
  fated: { readonly effect: number } | undefined;
  onDeath: () => void = () => undefined;
  onInterrupt: () => void = () => undefined;
  onCrash: (thrown: unknown) => void = () => undefined;
  readonly world: World;
  readonly machine: Machine;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fate: Fate | undefined;
  readonly chance: Chance;
  constructor(
    world: World,
    machine: Machine,
    home: string,
    env: Readonly<Record<string, string | undefined>>,
    fate: Fate | undefined,
    chance: Chance,
  ) {
    this.world = world;
    this.machine = machine;
    this.home = home;
    this.env = env;
    this.fate = fate;
    this.chance = chance;
    this.pid = world.nextPid();
    this.started = 1_000 + Math.floor(world.now / 10);
    if (fate?.from === 'start') this.fated = { effect: Math.max(1, fate.effect) };
  }

  /** Its clock, ms UTC. */
  wall(): number {
    return Math.floor(START + this.world.now + this.machine.ahead);
  }

  /** The system closes what it had open. Its locks and unfinished transactions go with its connections. */
  end(): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const database of this.databases) database.close();
    for (const fd of this.files) fs.closeSync(fd);
    for (const socket of this.sockets) socket.hangUp();
    this.databases.clear();
    this.files.clear();
    this.world.running.delete(this);
  }

  kill(): void {
    if (this.isDead) return;
    this.wasKilled = true;
    this.end();
    this.onDeath();
  }

  /** A request that changes something is on its way. */
  sends(): void {
    this.writes += 1;
    const { fate } = this;
    if (fate?.from === 'write' && fate.nth === this.writes && this.fated === undefined) {
      this.fated = { effect: this.effects + fate.effect };
    }
  }

  /** Before an effect; throws `Gone` where it is never done. */
  begins(): void {
    if (this.isDead) throw new Gone();
    this.effects += 1;
    const { fate, fated } = this;
    if (fate === undefined || fated?.effect !== this.effects) return;
    if (fate.how === 'stands still') this.thawAt = this.world.now + fate.ms;
    else if (fate.how === 'is interrupted') this.world.after(0, this, this.onInterrupt);
    else if (fate.when === 'before') {
      this.kill();
      throw new Gone();
    }
    if (fate.how !== 'dies') this.world.happened(fate.how);
  }

  /** Behind an effect. */
  ends(): void {
    if (this.isDead) throw new Gone();
    if (this.fate?.how !== 'dies' || this.fated?.effect !== this.effects) return;
    this.kill();
    throw new Gone();
  }
}

export const START = Date.parse('2026-11-20T14:00:00Z');

interface Due {
  readonly at: number;
  readonly order: number;
  readonly who: Process | undefined;
  readonly happen: () => void;
  isOff: boolean;
}

/** What the service gets of a connection, and gives it. */
export interface Wire {
  readonly who: Process;
  /** Bytes to the client, after the latency. */
  answer(bytes: string | Uint8Array, afterMs: number): void;
  /** The connection ends, reset or not. */
  cut(afterMs: number): void;
}

export interface Listener {
  /** Undefined: refused. */
  accept(wire: Wire): ((bytes: Buffer) => void) | undefined;
  latency(): number;
}

/** True time, in order: the next thing happens when everybody waits. */
export class World {
  now = 0;
  #order = 0;
  #pids = 1000;
  readonly #due: Due[] = [];
  readonly running = new Set<Process>();
  listener: Listener | undefined;
  /** The server of the journal that machines share. */
  database: Postgres | undefined;
  readonly chance: Chance;
  readonly happened: (what: string) => void;
  constructor(chance: Chance, happened: (what: string) => void) {
    this.chance = chance;
    this.happened = happened;
  }

  nextPid(): number {
    this.#pids += 1;
    return this.#pids;
  }

  after(ms: number, who: Process | undefined, happen: () => void): Due {
    const due: Due = { at: this.now + Math.max(0, ms), order: ++this.#order, who, happen, isOff: false };
    this.#put(due);
    return due;
  }

  /** The next one is last. */
  #put(due: Due): void {
    this.#due.splice(this.#due.findLastIndex(each => isBefore(due, each)) + 1, 0, due);
  }

  /** Lets things happen until `isOver`. False: nothing is left to happen, and it is not over. */
  async until(isOver: () => boolean): Promise<boolean> {
    let idle = 0;
    while (!isOver()) {
      const due = this.#due.pop();
      if (due === undefined) {
        // What is not simulated, such as the compiler of WebAssembly, may still be at work.
        idle += 1;
        if (idle > 1_000) return false;
        await new Promise(resolve => setImmediate(resolve));
        continue;
      }
      idle = 0;
      if (due.isOff || due.who?.isDead) continue;
      if (due.who !== undefined && due.who.thawAt > due.at) {
        this.#put({ ...due, at: due.who.thawAt, order: ++this.#order });
        continue;
      }
      this.now = Math.max(this.now, due.at);
      current = due.who;
      try {
        due.happen();
      } catch (thrown) {
        if (due.who === undefined) throw thrown;
        if (!due.who.isDead) due.who.onCrash(thrown);
      }
      await new Promise(resolve => setImmediate(resolve));
      current = undefined;
    }
    return true;
  }
}

function isBefore(one: Due, other: Due): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** The process whose turn it is; nobody's while modules are loaded. */
let current: Process | undefined;
export const turnOf = (): Process | undefined => current;

/** Nobody catches what is thrown: Node ends the process whose turn it is. Returns how to stop taking it so. */
export function takeCrashes(): void {
  realProcess.on('uncaughtException', thrown => {
    if (current === undefined) {
      realProcess.stderr.write(`${(thrown as Error).stack}\n`);
      realProcess.exit(1);
    }
    if (!current.isDead) current.onCrash(thrown);
  });
}

/** Runs `work` as that process, from outside of its turns. */
export function as<T>(who: Process, work: () => T): T {
  const before = current;
  current = who;
  try {
    return work();
  } finally {
    current = before;
  }
}

/** An effect that can be waited for. Others may come first where several processes run. */
export async function effect<T>(work: () => T, counts = true): Promise<T> {
  const who = current;
  if (who === undefined) return work();
  try {
    if (counts) who.begins();
    else if (who.isDead) return never();
    if (who.world.running.size > 1 || who.thawAt > who.world.now) await turn(who, who.world.chance.fraction() * 0.4);
    const result = work();
    if (counts) who.ends();
    return result;
  } catch (thrown) {
    if (thrown instanceof Gone || who.isDead) return never();
    throw thrown;
  }
}

function turn(who: Process, ms: number): Promise<void> {
  return new Promise(resolve => void who.world.after(ms, who, resolve));
}

function effectNow<T>(work: () => T): T {
  const who = current;
  if (who === undefined) return work();
  who.begins();
  const result = work();
  who.ends();
  return result;
}

// Time

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const who = current;
  if (who === undefined) throw new Error('somebody sleeps who is no process');
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      due.isOff = true;
      reject(signal?.reason);
    };
    const due = who.world.after(ms, who, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

class Timer {
  #due: Due | undefined;
  readonly call: () => void;
  readonly ms: number;
  readonly who: Process | undefined;
  readonly isRepeated: boolean;
  constructor(call: () => void, ms: number, who: Process | undefined, isRepeated: boolean) {
    this.call = call;
    this.ms = ms;
    this.who = who;
    this.isRepeated = isRepeated;
    this.refresh();
  }
  refresh(): this {
    this.close();
    this.#due = this.who?.world.after(this.ms, this.who, () => {
      this.call();
      if (this.isRepeated) this.refresh();
    });
    return this;
  }
  close(): void {
    if (this.#due) this.#due.isOff = true;
  }
  ref = () => this;
  unref = () => this;
  hasRef = () => true;
  [Symbol.toPrimitive] = () => 1;
  [Symbol.dispose] = () => this.close();
}

const setTimer = (call: (...given: never[]) => void, ms = 1, ...given: unknown[]) =>
  new Timer(() => call(...(given as never[])), Math.max(1, Number(ms) || 1), current, false);
const clearTimer = (timer: unknown) => timer instanceof Timer && timer.close();

function timeoutSignal(ms: number): AbortSignal {
  const stopping = new AbortController();
  setTimer(() => stopping.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms);
  return stopping.signal;
}

// Files

const CHANGES =
  /^(?:append|chmod|copy|cp|fchmod|fdatasync|fsync|ftruncate|link|mkdir|rename|rm|symlink|truncate|unlink|write)/;

/** Files that tell of processes: each machine has its own. */
function told(path: unknown): string | undefined {
  if (typeof path !== 'string' || !path.startsWith('/proc/')) return undefined;
  const who = current;
  if (who === undefined) return undefined;
  if (path === '/proc/sys/kernel/random/boot_id') return `${who.machine.boot}\n`;
  if (path === '/proc/self/ns/pid') return `pid:[${who.machine.name}]`;
  const pid = Number(/^\/proc\/(\d+|self)\/stat$/.exec(path)?.[1]?.replace('self', String(who.pid)));
  const other = [...who.world.running].find(each => each.pid === pid && each.machine.boot === who.machine.boot);
  const started = pid === 1 ? 1 : other?.started;
  if (started === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT', errno: -2 });
  return `${pid} (node) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 ${started} 0 0\n`;
}

type Call = (...asked: unknown[]) => unknown;
const real = fs as unknown as Record<string, Call>;

const above = new Map<string, unknown>();

/** A call of the disk. */
function onDisk(name: string, asked: unknown[]): unknown {
  const known = name === 'readFileSync' || name === 'readlinkSync' ? told(asked[0]) : undefined;
  if (known !== undefined) return known;
  if (name === 'existsSync' && typeof asked[0] === 'string' && asked[0].startsWith('/proc/')) {
    try {
      return told(asked[0]) !== undefined;
    } catch {
      return false;
    }
  }
  // Nothing here survives a loss of power anyway.
  if (name === 'fsyncSync' || name === 'fdatasyncSync') return undefined;
  const [path] = asked;
  // Folders above of all homes are looked at by every command, and never change.
  if (name === 'lstatSync' && typeof path === 'string' && current !== undefined && path.length < current.home.length) {
    const found = above.get(path) ?? real[name]?.(...asked);
    above.set(path, found);
    return found;
  }
  const result = real[name]?.(...asked);
  if (name === 'openSync') current?.files.add(result as number);
  if (name === 'closeSync') current?.files.delete(asked[0] as number);
  return result;
}

const isChange = (name: string, asked: readonly unknown[]) =>
  name.startsWith('open')
    ? asked[1] !== undefined && asked[1] !== 'r' && asked[1] !== fs.constants.O_RDONLY
    : CHANGES.test(name);

const OF_HANDLE: Readonly<Record<string, string>> = {
  writeFile: 'writeFileSync',
  appendFile: 'appendFileSync',
  readFile: 'readFileSync',
  stat: 'fstatSync',
  truncate: 'ftruncateSync',
  chmod: 'fchmodSync',
  sync: 'fsyncSync',
  datasync: 'fdatasyncSync',
  close: 'closeSync',
};

/** An open file. */
function handle(fd: number): object {
  const act = (name: string, ...asked: unknown[]) => effect(() => onDisk(name, [fd, ...asked]), CHANGES.test(name));
  const acts = Object.entries(OF_HANDLE).map(([name, of]) => [name, (...asked: unknown[]) => act(of, ...asked)]);
  return {
    ...Object.fromEntries(acts),
    fd,
    read: async (buffer: Buffer, ...place: unknown[]) => ({
      bytesRead: await act('readSync', buffer, ...place),
      buffer,
    }),
    write: async (data: unknown, ...place: unknown[]) => ({ bytesWritten: await act('writeSync', data, ...place) }),
    [Symbol.asyncDispose]: () => act('closeSync'),
  };
}

const promised = new Proxy(fs.promises, {
  get(target, name: string) {
    if (name === 'open')
      return async (...asked: unknown[]) =>
        handle(await effect(() => onDisk('openSync', asked) as number, isChange(name, asked)));
    if (!(`${name}Sync` in fs)) return Reflect.get(target, name);
    return (...asked: unknown[]) => effect(() => onDisk(`${name}Sync`, asked), CHANGES.test(name));
  },
});

const files = new Proxy(fs, {
  get(target, name: string) {
    const found = Reflect.get(target, name);
    if (name === 'promises') return promised;
    if (typeof found !== 'function' || /^[A-Z_]|^create|^watch/.test(name)) return found;
    if (name.endsWith('Sync'))
      return (...asked: unknown[]) =>
        isChange(name.slice(0, -4), asked) ? effectNow(() => onDisk(name, asked)) : onDisk(name, asked);
    return (...asked: unknown[]) => {
      const done = asked.pop() as (error: unknown, result?: unknown) => void;
      effect(() => onDisk(`${name}Sync`, asked), CHANGES.test(name)).then(
        result => done(null, result),
        (error: unknown) => done(error),
      );
    };
  },
});

// SQLite

export interface Prepared {
  all(...values: unknown[]): Readonly<Record<string, unknown>>[];
  run(...values: unknown[]): { readonly changes: number | bigint };
}
export interface Engine {
  exec(text: string): void;
  prepare(text: string): Prepared;
  function(name: string, work: (...given: unknown[]) => unknown): void;
  close(): void;
}
export type Sqlite = { DatabaseSync: new (path: string, options?: object) => Engine };

/**
 * A file of SQLite, opened once for all processes: a statement is prepared once, and nothing is synced. A transaction lasts
 * from one turn into another only where its process waits in it; then the file is busy for the others.
 */
interface Shared {
  readonly engine: Engine;
  readonly statements: Map<string, ReturnType<Engine['prepare']>>;
  owner: object | undefined;
}
const opened = new Map<string, Shared>();
/** Nobody else opens the file, and nothing here survives a loss of power anyway. */
export const QUICKLY =
  'pragma foreign_keys = on; pragma locking_mode = exclusive; pragma synchronous = off; pragma journal_mode = memory; pragma temp_store = memory';

/** Before a home is removed, or filled from another one. */
export function closeFiles(home: string): void {
  for (const [path, { engine }] of opened) {
    if (!path.startsWith(`${home}/`)) continue;
    engine.close();
    opened.delete(path);
  }
}

function sharedFile(engine: Sqlite, path: string): Shared {
  const known = opened.get(path);
  if (known !== undefined && fs.existsSync(path)) return known;
  known?.engine.close();
  const made: Shared = { engine: new engine.DatabaseSync(path), statements: new Map(), owner: undefined };
  made.engine.exec(QUICKLY);
  opened.set(path, made);
  return made;
}

/** A connection of one process. The system closes it with the process, which ends its transaction. */
function simulated(engine: Sqlite): Sqlite {
  class DatabaseSync {
    readonly #file: Shared;
    readonly #who = current;
    constructor(path: string) {
      this.#file = effectNow(() => sharedFile(engine, path));
      this.#who?.databases.add(this);
    }
    get isTransaction(): boolean {
      return this.#file.owner === this;
    }
    #do<T>(work: () => T): T {
      return effectNow(() => {
        const { owner } = this.#file;
        if (owner === undefined || owner === this) return work();
        throw Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
      });
    }
    exec(text: string): void {
      this.#do(() => {
        if (text.startsWith('pragma')) return;
        this.#file.engine.exec(text);
        if (text.startsWith('begin')) this.#file.owner = this;
        if (text === 'commit' || text === 'rollback') this.#file.owner = undefined;
      });
    }
    prepare(text: string) {
      const { statements, engine: open } = this.#file;
      const found = statements.get(text) ?? open.prepare(text);
      statements.set(text, found);
      const call =
        (name: string) =>
        (...asked: unknown[]) =>
          this.#do(() => (found as unknown as Record<string, Call>)[name]?.(...asked));
      return { run: call('run'), all: call('all'), get: call('get'), iterate: call('iterate') };
    }
    close(): void {
      if (this.isTransaction) {
        this.#file.engine.exec('rollback');
        this.#file.owner = undefined;
      }
      this.#who?.databases.delete(this);
    }
  }
  return { ...engine, DatabaseSync: DatabaseSync as unknown as Sqlite['DatabaseSync'] };
}

let sqlite: Sqlite | undefined;

/** Of the connections that the program opens through `dlopen` or `require`. */
export function simulatedSqlite(engine: unknown): unknown {
  sqlite ??= simulated(engine as Sqlite);
  return sqlite;
}

// Sockets

/** The program's end of a connection. */
class Socket extends Duplex {
  readonly who: Process;
  connecting = true;
  readonly remoteAddress = '127.0.0.1';
  #receive: ((bytes: Buffer) => void) | undefined;
  #isCut = false;
  /** When what was handed over last arrives: nothing overtakes on a connection. */
  #there = 0;
  #back = 0;

  constructor(who: Process) {
    super({ allowHalfOpen: false, autoDestroy: true });
    this.who = who;
    const { world } = who;
    who.sockets.add(this);
    this.once('close', () => who.sockets.delete(this));
    world.after(latency(world), who, () => this.#open(world));
  }

  #open(world: World): void {
    if (this.destroyed) return;
    this.#receive = world.listener?.accept({
      who: this.who,
      answer: (bytes, afterMs) =>
        this.#comes(afterMs, () => {
          if (this.destroyed) return;
          this.push(Buffer.from(bytes));
        }),
      cut: afterMs =>
        this.#comes(afterMs, () => {
          this.#isCut = true;
          this.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' }));
        }),
    });
    this.connecting = false;
    if (this.#receive === undefined) {
      const facts = { code: 'ECONNREFUSED', syscall: 'connect', address: '127.0.0.1', port: 9 };
      return void this.destroy(Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), facts));
    }
    this.emit('connect');
    this.emit('ready');
  }

  #comes(afterMs: number, happen: () => void): void {
    const { world } = this.who;
    this.#back = Math.max(this.#back, world.now + afterMs + latency(world));
    world.after(this.#back - world.now, this.who, happen);
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    const { who } = this;
    if (this.connecting) return void this.once('connect', () => this._write(chunk, _encoding, done));
    if (/^(?:POST|PUT|PATCH|DELETE) /.test(chunk.subarray(0, 7).toString('latin1'))) as(who, () => who.sends());
    try {
      who.begins();
      const receive = this.#receive;
      this.#there = Math.max(this.#there, who.thawAt, who.world.now + latency(who.world));
      who.world.after(this.#there - who.world.now, undefined, () => !this.#isCut && receive?.(chunk));
      who.ends();
    } catch (thrown) {
      if (thrown instanceof Gone) return;
      throw thrown;
    }
    done();
  }
  override _final(done: () => void): void {
    done();
  }
  override _read(): void {}
  /** Its process is dead: what was sent arrives, and nothing comes back. */
  hangUp(): void {
    this.removeAllListeners();
    this.on('error', () => undefined);
    this.destroy();
  }
  setKeepAlive = () => this;
  setNoDelay = () => this;
  setTimeout = () => this;
  ref = () => this;
  unref = () => this;
}

const latency = (world: World) => world.listener?.latency() ?? 1;

function connect(..._asked: unknown[]): Socket {
  if (current === undefined) throw new Error('somebody connects who is no process');
  return new Socket(current);
}

// Chance, system, process

const own = {
  ...crypto,
  randomBytes: (count: number) => Buffer.from(current?.chance.bytes(count) ?? crypto.randomBytes(count)),
  randomFillSync: (into: Uint8Array) => {
    into.set(current?.chance.bytes(into.length) ?? crypto.randomBytes(into.length));
    return into;
  },
  randomUUID: () => {
    const hex = Buffer.from(current?.chance.bytes(16) ?? crypto.randomBytes(16)).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  },
};

const system = {
  ...os,
  hostname: () => current?.machine.name ?? 'nobody',
  homedir: () => current?.home ?? '/nowhere',
  tmpdir: () => current?.home ?? os.tmpdir(),
};

/** True for processes that run on the machine of whoever asks. */
export function isRunning(pid: number): boolean {
  return [...(current?.world.running ?? [])].some(
    each => each.pid === pid && each.machine.boot === current?.machine.boot,
  );
}

const process = new Proxy(realProcess, {
  get(target, name: string) {
    const who = current;
    switch (name) {
      case 'pid':
        return who?.pid ?? 1;
      case 'env':
        return who?.env ?? {};
      case 'getBuiltinModule':
        return (module: string) =>
          module.endsWith('sqlite') ? undefined : (modules[module] ?? target.getBuiltinModule(module as 'node:fs'));
      case 'kill':
        return (pid: number) => {
          if (isRunning(pid)) return true;
          throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
        };
      case 'dlopen':
        return (module: { exports: unknown }, file: string) => {
          target.dlopen(module, file);
          module.exports = simulatedSqlite(module.exports);
        };
      case 'hrtime':
        return { bigint: () => BigInt(Math.round((who?.world.now ?? 0) * 1e6)) };
      case 'on':
      case 'once':
      case 'off':
      case 'addListener':
      case 'prependListener':
      case 'prependOnceListener':
      case 'removeListener':
        return () => process;
      default:
        return Reflect.get(target, name, target);
    }
  },
});

/** Channels whose listeners go with their process. */
const channels = new Map<string, unknown>();
function channel(name: string): unknown {
  const found = channels.get(name);
  if (found !== undefined) return found;
  const listeners = () => current?.listeners.get(name);
  const made = {
    name,
    get hasSubscribers() {
      return (listeners()?.size ?? 0) > 0;
    },
    publish: (message: unknown) => {
      for (const listen of listeners() ?? []) listen(message);
    },
    subscribe: () => undefined,
    unsubscribe: () => true,
    runStores: (_: unknown, work: Call, self: unknown, ...asked: unknown[]) => work.apply(self, asked),
  };
  channels.set(name, made);
  return made;
}

const timers = {
  setTimeout: setTimer,
  clearTimeout: clearTimer,
  setInterval: (call: () => void, ms: number) => new Timer(call, Math.max(1, ms), current, true),
  clearInterval: clearTimer,
  setImmediate: (call: (...given: unknown[]) => void, ...given: unknown[]) =>
    new Timer(
      () => call(...given),
      current !== undefined && current.world.running.size > 1 ? current.world.chance.fraction() * 0.4 : 0,
      current,
      false,
    ),
  clearImmediate: clearTimer,
};

const modules: Readonly<Record<string, unknown>> = {
  'node:fs': files,
  'node:fs/promises': promised,
  'node:net': { ...net, connect, createConnection: connect },
  'node:os': system,
  'node:crypto': own,
  'node:process': process,
  'node:timers': timers,
  'node:timers/promises': {
    setTimeout: (ms: number, _value: unknown, how?: { signal?: AbortSignal }) => sleep(ms, how?.signal),
  },
  'node:diagnostics_channel': {
    channel,
    subscribe(name: string, listen: (message: unknown) => void) {
      if (current === undefined) return;
      const listeners = current.listeners.get(name) ?? new Set();
      current.listeners.set(name, listeners.add(listen));
    },
    unsubscribe: (name: string, listen: (message: unknown) => void) => current?.listeners.get(name)?.delete(listen),
  },
};

/** What the bundle is given. */
export const platform = {
  modules,
  process,
  ...timers,
  timeoutSignal,
  dateNow: () => current?.wall() ?? START,
  monotonic: () => current?.world.now ?? 0,
};

export const SIMULATED_MODULES: readonly string[] = Object.keys(modules);
