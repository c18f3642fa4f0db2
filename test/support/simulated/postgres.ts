/**
 * A PostgreSQL server that several machines share, as the package pg shows it to the program. Statements run on SQLite, one
 * transaction after the other: what two that overlap do to each other only a real server can show (`test/shared`). What is
 * between the program and its database is all here: answers that are late or lost, a COMMIT of which nobody hears, a server that
 * is away, locks that are waited for, a holder that stands still within its transaction.
 */
import { EventEmitter } from 'node:events';
import { Store } from './sqlite.ts';
import { effect, type Process, START, self, type World } from './world.ts';

/** A COMMIT behind which the connection is lost, and the server away for a while. */
export interface LostCommit {
  /** Counted over a history, from 1. */
  readonly nth: number;
  /** Whether it was still done. */
  readonly when: 'before' | 'after';
  readonly awayMs: number;
}

const LOCK_MS = 20_000;
/** How often a lock is tried again. */
const PAUSE_MS = 5;
const IDLE_MS = 30_000;

type Value = string | number | null;
type Result = { readonly command?: string; readonly rows: readonly object[]; readonly rowCount?: number };
type Given = Result | Result[] | Error;

const refusal = (code: string, message: string) => Object.assign(new Error(message), { severity: 'ERROR', code });

const SETTINGS: Readonly<Record<string, unknown>> = { server_version_num: 160_000, fsync: 'on' };

/** The server: its database, one lock for all of it, and what became of transactions. */
export class Postgres {
  readonly world: World;
  readonly store = new Store();
  readonly connections = new Set<PgClient>();
  readonly became = new Map<string, 'committed' | 'aborted' | 'in progress'>();
  #lostCommits: readonly LostCommit[] = [];
  #commits = 0;
  #awayUntil = 0;
  /** Who is within a transaction. */
  owner: PgClient | undefined;

  constructor(world: World) {
    this.world = world;
    this.store.engine.function('current_setting', name => SETTINGS[String(name)] ?? 'UTF8');
    this.store.engine.function('pg_is_in_recovery', () => 0);
  }

  /** From now on commits are lost. */
  begin(lostCommits: readonly LostCommit[]): void {
    this.#lostCommits = lostCommits;
    this.#commits = 0;
  }

  get isAway(): boolean {
    return this.world.now < this.#awayUntil;
  }

  /** Of a COMMIT: whether its connection is lost, before it or after. */
  lossOf(): LostCommit | undefined {
    this.#commits += 1;
    return this.#lostCommits.find(({ nth }) => nth === this.#commits);
  }

  goAway(ms: number): void {
    this.world.happened(`the database is away${ms > 15_000 ? ' for long' : ''}`);
    this.#awayUntil = this.world.now + ms;
    for (const connection of [...this.connections]) connection.disconnect();
  }

  close(): void {
    for (const connection of [...this.connections]) connection.disconnect();
    this.store.engine.close();
  }

  /** Resolves to true when nobody is within a transaction, and to false when that was waited for too long. */
  async isFree(): Promise<boolean> {
    for (const end = this.world.now + LOCK_MS; this.owner !== undefined; await this.world.pass(PAUSE_MS)) {
      this.owner.endIdle();
      if (this.world.now < end) continue;
      this.world.happened('a lock of the database is waited for too long');
      return false;
    }
    return true;
  }
}

/** In place of the client of pg: one connection of the process whose turn it is, and what the server has of it. */
export class PgClient extends EventEmitter {
  readonly connectionParameters = {};
  readonly connection = { stream: { ref() {}, unref() {}, destroy: () => this.close() } };
  readonly #who: Process = self();
  readonly #server: Postgres;
  readonly #role: string;
  /** Of the program: whether it still hears, and whom it must tell that the connection is lost. */
  #isOpen = false;
  readonly #pending = new Set<(thrown: Error) => void>();
  /** ms there, and back: nothing overtakes on a connection. */
  readonly #latency: number;
  /** Of the server: what came before, the transaction, and whether the connection has ended. */
  #served: Promise<void> = Promise.resolve();
  #transaction: { readonly xid?: string; readonly isWrite: boolean; hasFailed: boolean } | undefined;
  #isOver = false;
  /** Of the last statement. */
  #servedAt = 0;

  constructor({ user }: { readonly user: string }) {
    super();
    const { database } = this.#who.world;
    if (database === undefined) throw new Error('somebody connects to a database that is not there');
    this.#server = database;
    this.#role = user;
    this.#latency = 0.2 + this.#who.world.chance.fraction();
    this.#who.connections.add(this);
  }

  async connect(): Promise<void> {
    const { world } = this.#who;
    await effect(() => undefined, 'in order');
    await new Promise<void>(resolve => void world.after(2 * this.#latency, this.#who, resolve));
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
        const answer = (given: Given | undefined) => {
          // Nobody hears of it.
          if (given === undefined) return;
          world.after(this.#latency, this.#who, () => {
            this.#pending.delete(reject);
            if (given instanceof Error) reject(given);
            else resolve(given);
          });
        };
        const at = Math.floor(START + world.now);
        world.after(this.#wayThere(), undefined, () => {
          this.#served = this.#served.then(async () => answer(await this.#serve(text, values, at)));
        });
      });
    return effect(send, 'in order');
  }

  async end(): Promise<void> {
    this.close();
  }

  /** What was sent arrives; then the server takes back what was not committed. */
  close(): void {
    this.#who.connections.delete(this);
    if (this.#isOpen) this.#who.world.after(this.#wayThere(), undefined, () => this.disconnect());
    this.#isOpen = false;
  }

  /** ms until what is sent now arrives. */
  #wayThere(): number {
    const { world, thawAt } = this.#who;
    return Math.max(0, thawAt - world.now) + this.#latency;
  }

  // The server's end

  /** The connection ends: what was not committed is taken back. */
  disconnect(): void {
    if (this.#isOver) return;
    this.#end('rollback');
    this.#isOver = true;
    this.#server.connections.delete(this);
    this.#who.world.after(this.#latency, this.#who, () => {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      const thrown = new Error('Connection terminated unexpectedly');
      for (const reject of this.#pending) reject(thrown);
      this.emit('error', thrown);
      this.emit('end');
    });
  }

  /** The server ends who stands still within a transaction. */
  endIdle(): void {
    if (this.#transaction !== undefined && this.#server.world.now - this.#servedAt > IDLE_MS) this.disconnect();
  }

  /** One statement, when those before it are executed. Undefined: nobody hears of it. */
  async #serve(text: string, values: readonly Value[], at: number): Promise<Given | undefined> {
    this.endIdle();
    const isFree = !text.startsWith('begin') || this.#isOver || (await this.#server.isFree());
    if (this.#isOver) return undefined;
    this.#servedAt = this.#server.world.now;
    if (isFree) return text === 'commit' ? this.#commit() : this.#execute(text, values, at);
    this.#transaction = { isWrite: false, hasFailed: true };
    return refusal('55P03', 'canceling statement due to lock timeout');
  }

  #end(how: 'commit' | 'rollback'): Result {
    const { became, store } = this.#server;
    const { xid, isWrite } = this.#transaction ?? {};
    if (xid !== undefined) store.end(how);
    if (xid !== undefined && isWrite) became.set(xid, how === 'commit' ? 'committed' : 'aborted');
    this.#transaction = undefined;
    if (this.#server.owner === this) this.#server.owner = undefined;
    return { command: how.toUpperCase(), rows: [] };
  }

  #commit(): Result | undefined {
    const server = this.#server;
    if (this.#transaction?.hasFailed !== false) return this.#end('rollback');
    const loss = this.#transaction.isWrite ? server.lossOf() : undefined;
    const ended = this.#end(loss?.when === 'before' ? 'rollback' : 'commit');
    if (loss === undefined) return ended;
    server.world.happened(`a commit is lost ${loss.when} it`);
    if (loss.awayMs > 0) server.goAway(loss.awayMs);
    else this.disconnect();
    return undefined;
  }

  #execute(text: string, values: readonly Value[], at: number): Given {
    const { became, store } = this.#server;
    if (text.startsWith('begin')) {
      this.#server.owner = this;
      store.begin(this);
      const [xid, isWrite] = [String(became.size + 1), text.includes('xid')];
      this.#transaction = { xid, isWrite, hasFailed: false };
      if (isWrite) became.set(xid, 'in progress');
      return [{ rows: [] }, { rows: [{ now: at, xid }] }];
    }
    if (text === 'rollback') return this.#end('rollback');
    if (text.includes('pg_xact_status')) return { rows: [{ status: became.get(String(values[0])) ?? null }] };
    const transaction = this.#transaction;
    if (text.startsWith('rollback to') && transaction) transaction.hasFailed = false;
    if (transaction?.hasFailed) return refusal('25P02', 'current transaction is aborted');
    try {
      return this.#run(text, values);
    } catch (thrown) {
      if (transaction) transaction.hasFailed = true;
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
    if (text.includes('from pg_tables'))
      return { rows: store.prepared('select 1 yes from sqlite_master limit 1').all() };
    if (/^(?:create|savepoint|release|rollback)/.test(text)) {
      store.exec(text);
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
