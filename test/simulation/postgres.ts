/**
 * A PostgreSQL server that several machines share, as the package pg shows it to the program. Statements run on SQLite, one
 * transaction after the other: what two that overlap do to each other only a real server can show (`test/shared`). What is
 * between the program and its database is all here: answers that are late or lost, a COMMIT of which nobody hears, a server that
 * is away, locks that are waited for, a holder that stands still within its transaction.
 */
import { EventEmitter } from 'node:events';
import { Store } from './platform.ts';
import { effect, type Process, START, self, type World } from './world.ts';

/** A COMMIT behind which the connection is lost, and the server away for a while. */
export interface Cut {
  /** Counted over a history, from 1. */
  readonly nth: number;
  /** Whether it was still done. */
  readonly when: 'before' | 'after';
  readonly awayMs: number;
}

const LOCK_MS = 20_000;
const IDLE_MS = 30_000;

type Value = string | number | null;
type Result = { readonly command?: string; readonly rows: readonly object[]; readonly rowCount?: number };
type Given = Result | Result[] | Error;
interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
  /** By the clock of the server, when it came. */
  readonly at: number;
  answer(given: Given): void;
}

const refusal = (code: string, message: string) => Object.assign(new Error(message), { severity: 'ERROR', code });

const SETTINGS: Readonly<Record<string, unknown>> = { server_version_num: 160_000, fsync: 'on' };
let kept: Store | undefined;

export class Postgres {
  readonly world: World;
  readonly store: Store;
  #cuts: readonly Cut[] = [];
  #commits = 0;
  #awayUntil = 0;
  owner: PgClient | undefined;
  readonly waiting: PgClient[] = [];
  readonly connections = new Set<PgClient>();
  readonly became = new Map<string, 'committed' | 'aborted' | 'in progress'>();

  constructor(world: World) {
    this.world = world;
    kept ??= new Store({ current_setting: name => SETTINGS[String(name)] ?? 'UTF8', pg_is_in_recovery: () => 0 });
    this.store = kept;
  }

  /** From now on commits are lost. */
  begin(cuts: readonly Cut[]): void {
    this.#cuts = cuts;
    this.#commits = 0;
  }

  get isAway(): boolean {
    return this.world.now < this.#awayUntil;
  }

  /** Of a COMMIT: whether its connection is lost, before it or after. */
  cutAt(): Cut | undefined {
    this.#commits += 1;
    return this.#cuts.find(({ nth }) => nth === this.#commits);
  }

  goAway(ms: number): void {
    this.world.happened(`the database is away${ms > 15_000 ? ' for long' : ''}`);
    this.#awayUntil = this.world.now + ms;
    for (const connection of [...this.connections]) connection.cut();
  }

  close(): void {
    for (const connection of [...this.connections]) connection.cut();
    this.store.clear();
  }

  /** False: it waits. */
  acquire(connection: PgClient): boolean {
    this.owner ??= connection;
    if (this.owner !== connection && !this.waiting.includes(connection)) this.waiting.push(connection);
    return this.owner === connection;
  }

  release(connection: PgClient): void {
    const at = this.waiting.indexOf(connection);
    if (at !== -1) this.waiting.splice(at, 1);
    if (this.owner !== connection) return;
    this.owner = this.waiting.shift();
    const next = this.owner;
    if (next !== undefined) this.world.after(0, undefined, () => next.go());
  }
}

/** In place of the client of pg: one connection of the process whose turn it is, and what the server has of it. */
export class PgClient extends EventEmitter {
  readonly #who: Process = self();
  readonly #server: Postgres;
  readonly #role: string;
  readonly connectionParameters = {};
  readonly connection = { stream: { ref() {}, unref() {}, destroy: () => this.close() } };
  /** Of the program: whether it still hears, and whom it must tell that the connection is lost. */
  #isOpen = false;
  readonly #pending = new Set<(thrown: Error) => void>();
  /** When what was sent last arrives, there and back: nothing overtakes on a connection. */
  #there = 0;
  #back = 0;
  /** Of the server. */
  readonly #queue: Statement[] = [];
  #xid = '';
  #isWrite = false;
  #isIn = false;
  #hasFailed = false;
  #isOver = false;
  /** Counts what came, so that a clock that was set for something earlier says nothing. */
  #turn = 0;

  constructor({ user }: { readonly user: string }) {
    super();
    const { database } = this.#who.world;
    if (database === undefined) throw new Error('somebody connects to a database that is not there');
    this.#server = database;
    this.#role = user;
    this.#who.databases.add(this);
  }

  async connect(): Promise<void> {
    const { world } = this.#who;
    await effect(() => undefined, 'in order');
    await new Promise<void>(resolve => void world.after(2 * this.#latency(), this.#who, resolve));
    if (this.#server.isAway)
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
    this.#isOpen = true;
    this.#server.connections.add(this);
  }

  query({ text, values = [] }: { readonly text: string; readonly values?: readonly Value[] }): Promise<unknown> {
    const { world } = this.#who;
    if (!this.#isOpen) return Promise.reject(new Error('Connection terminated'));
    const send = () =>
      new Promise((resolve, reject) => {
        this.#pending.add(reject);
        const answer = (given: Given) =>
          this.#comes(() => {
            this.#pending.delete(reject);
            if (given instanceof Error) reject(given);
            else resolve(given);
          });
        this.#there = Math.max(this.#there, this.#who.thawAt, world.now + this.#latency());
        const at = Math.floor(START + world.now);
        world.after(this.#there - world.now, undefined, () => this.#take({ text, values, at, answer }));
      });
    return effect(send, 'in order');
  }

  async end(): Promise<void> {
    this.close();
  }

  /** What was sent arrives; then the server takes back what was not committed. */
  close(): void {
    const { world } = this.#who;
    this.#who.databases.delete(this);
    if (this.#isOpen) world.after(Math.max(0, this.#there - world.now) + 1, undefined, () => this.cut());
    this.#isOpen = false;
  }

  #latency(): number {
    return 0.2 + this.#who.world.chance.fraction();
  }

  #comes(happen: () => void): void {
    const { world } = this.#who;
    this.#back = Math.max(this.#back, world.now + this.#latency());
    world.after(this.#back - world.now, this.#who, happen);
  }

  // The server's end

  /** The connection ends: what was not committed is taken back. */
  cut(): void {
    if (this.#isOver) return;
    this.#end('rollback');
    this.#isOver = true;
    this.#server.connections.delete(this);
    this.#comes(() => {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      const thrown = new Error('Connection terminated unexpectedly');
      for (const reject of this.#pending) reject(thrown);
      this.emit('error', thrown);
      this.emit('end');
    });
  }

  #take(statement: Statement): void {
    if (this.#isOver) return;
    this.#queue.push(statement);
    if (this.#queue.length === 1) this.go();
  }

  /** Executes what has come, until something has to wait. */
  go(): void {
    const server = this.#server;
    this.#turn += 1;
    for (let next = this.#queue[0]; next !== undefined && !this.#isOver; next = this.#queue[0]) {
      if (next.text.startsWith('begin') && !server.acquire(this)) {
        this.#unless(LOCK_MS, () => {
          if (server.waiting.includes(this)) this.#refuse();
        });
        return;
      }
      this.#queue.shift();
      const given = next.text === 'commit' ? this.#commit() : this.#execute(next);
      // Nobody hears of it.
      if (given === undefined) return;
      next.answer(given);
    }
    if (this.#isIn) this.#unless(IDLE_MS, () => this.cut());
  }

  /** Lets something happen at a time, unless something comes before it. */
  #unless(ms: number, happen: () => void): void {
    const turn = this.#turn;
    this.#server.world.after(ms, undefined, () => {
      if (this.#turn === turn && !this.#isOver) happen();
    });
  }

  #refuse(): void {
    this.#server.world.happened('a lock of the database is waited for too long');
    this.#server.release(this);
    this.#hasFailed = true;
    this.#queue.shift()?.answer(refusal('55P03', 'canceling statement due to lock timeout'));
    this.go();
  }

  #end(how: 'commit' | 'rollback'): Result {
    if (this.#isIn) {
      this.#server.store[how]();
      if (this.#isWrite) this.#server.became.set(this.#xid, how === 'commit' ? 'committed' : 'aborted');
    }
    this.#isIn = false;
    this.#hasFailed = false;
    this.#server.release(this);
    return { command: how.toUpperCase(), rows: [] };
  }

  #commit(): Result | undefined {
    const server = this.#server;
    if (!this.#isIn || this.#hasFailed) return this.#end('rollback');
    const cut = this.#isWrite ? server.cutAt() : undefined;
    const ended = this.#end(cut?.when === 'before' ? 'rollback' : 'commit');
    if (cut === undefined) return ended;
    server.world.happened(`a commit is lost ${cut.when} it`);
    if (cut.awayMs > 0) server.goAway(cut.awayMs);
    else this.cut();
    return undefined;
  }

  #execute({ text, values, at }: Statement): Given {
    const { became, store } = this.#server;
    if (text.startsWith('begin')) {
      store.begin(this);
      [this.#isIn, this.#hasFailed, this.#isWrite] = [true, false, text.includes('xid')];
      this.#xid = String(became.size + 1);
      if (this.#isWrite) became.set(this.#xid, 'in progress');
      return [{ rows: [] }, { rows: [{ now: at, xid: this.#xid }] }];
    }
    if (text === 'rollback') return this.#end('rollback');
    if (text.includes('pg_xact_status')) return { rows: [{ status: became.get(String(values[0])) ?? null }] };
    if (text.startsWith('rollback to')) this.#hasFailed = false;
    else if (this.#hasFailed) return refusal('25P02', 'current transaction is aborted');
    try {
      return this.#run(text, values);
    } catch (thrown) {
      this.#hasFailed = true;
      const { message } = thrown as Error;
      return refusal(/unique|primary key/i.test(message) ? '23505' : '42601', `${message}: ${text}`);
    }
  }

  #run(text: string, values: readonly Value[]): Result {
    const { store } = this.#server;
    if (/^(?:create (?:role|schema)|revoke|grant|alter table)\b|from pg_locks/.test(text))
      return { rows: [], rowCount: 0 };
    if (/from pg_(?:roles|namespace)/.test(text)) return { rows: [{ yes: 1 }] };
    if (text.startsWith('select session_user')) return { rows: [{ name: this.#role }] };
    if (text.includes('from pg_tables')) return { rows: store.isMade ? [{ yes: 1 }] : [] };
    if (text.startsWith('create')) store.make(text);
    if (/^(?:create|savepoint|release|rollback)/.test(text)) {
      if (!text.startsWith('create')) store.engine.exec(text);
      return { rows: [] };
    }
    const many = /^insert into (\w+) \((.*?)\) select .*json_populate_recordset/.exec(text);
    if (many !== null) {
      const [, table = '', names = ''] = many;
      // The database says who inserts.
      const signed = table === 'audit' || table === 'approval_request' ? { by_role: this.#role } : {};
      const columns = [...names.split(', '), ...Object.keys(signed)];
      const statement = `insert into ${table} (${columns.join()}) values (${columns.map(() => '?').join()})`;
      const list = JSON.parse(String(values[0])) as Record<string, Value>[];
      for (const row of list) {
        const all: Record<string, Value> = { ...row, ...signed };
        store.prepared(statement).run(...columns.map(name => all[name] ?? null));
      }
      return { rows: [], rowCount: list.length };
    }
    const statement = store.prepared(text.replaceAll('$', '?').replace(/::\w+| for update/g, ''));
    if (/^\s*select|\breturning\b/.test(text)) {
      const found = statement.all(...values);
      return { rows: found, rowCount: found.length };
    }
    return { rows: [], rowCount: Number(statement.run(...values).changes) };
  }
}
