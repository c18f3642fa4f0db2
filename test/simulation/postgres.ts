/**
 * A PostgreSQL server that several machines share, as the package pg shows it to the program. Statements run on SQLite, one
 * transaction after the other: what two that overlap do to each other only a real server can show (`test/shared`). What is
 * between the program and its database is all here: answers that are late or lost, a COMMIT of which nobody hears, a server that
 * is away, locks that are waited for, a holder that stands still within its transaction.
 */
import { EventEmitter } from 'node:events';
import { copyFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type Engine,
  Gone,
  type Prepared,
  type Process,
  QUICKLY,
  type Sqlite,
  START,
  turnOf,
  type World,
} from './platform.ts';

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

class DatabaseError extends Error {
  readonly severity = 'ERROR';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

type Value = string | number | null;
type Row = Readonly<Record<string, unknown>>;
interface Result {
  readonly command?: string;
  readonly rows: readonly Row[];
  readonly rowCount?: number;
}
interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
  /** By the clock of the server, when it came. */
  at: number;
  answer(given: Result | Result[] | Error): void;
}

export class Postgres {
  readonly world: World;
  readonly happened: (what: string) => void;
  readonly #path: string;
  readonly #open: Sqlite;
  #cuts: readonly Cut[] = [];
  #commits = 0;
  #awayUntil = 0;
  engine: Engine;
  readonly #statements = new Map<string, Prepared>();
  owner: Session | undefined;
  readonly waiting: Session[] = [];
  readonly sessions = new Set<Session>();
  readonly became = new Map<string, 'committed' | 'aborted' | 'in progress'>();

  constructor(world: World, path: string, happened: (what: string) => void) {
    this.world = world;
    this.happened = happened;
    this.#path = path;
    this.#open = createRequire(import.meta.url)('@photostructure/sqlite') as Sqlite;
    this.engine = this.#opened();
  }

  #opened(): Engine {
    const engine = new this.#open.DatabaseSync(this.#path);
    engine.exec(QUICKLY);
    engine.function('current_setting', name =>
      name === 'server_version_num' ? 160_000 : name === 'fsync' ? 'on' : 'UTF8',
    );
    engine.function('pg_is_in_recovery', () => 0);
    return engine;
  }

  prepared(text: string): Prepared {
    const statement = this.#statements.get(text) ?? this.engine.prepare(text);
    this.#statements.set(text, statement);
    return statement;
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
    this.happened(`the database is away${ms > 15_000 ? ' for long' : ''}`);
    this.#awayUntil = this.world.now + ms;
    for (const session of [...this.sessions]) session.cut();
  }

  /** Keeps its state, or puts back one that was kept: everybody is cut off. */
  keep(name: number): void {
    copyFileSync(this.#path, `${this.#path}.${name}`);
  }
  putBack(name: number): void {
    this.goAway(0);
    this.#statements.clear();
    this.engine.close();
    copyFileSync(`${this.#path}.${name}`, this.#path);
    this.engine = this.#opened();
  }

  close(): void {
    for (const session of [...this.sessions]) session.cut();
    this.engine.close();
    rmSync(this.#path, { force: true });
  }

  /** False: it waits. */
  acquire(session: Session): boolean {
    if (this.owner === session) return true;
    if (this.owner === undefined) this.owner = session;
    else if (!this.waiting.includes(session)) this.waiting.push(session);
    return this.owner === session;
  }

  release(session: Session): void {
    const at = this.waiting.indexOf(session);
    if (at !== -1) this.waiting.splice(at, 1);
    if (this.owner !== session) return;
    this.owner = this.waiting.shift();
    const next = this.owner;
    if (next !== undefined) this.world.after(0, undefined, () => next.go());
  }
}

/** What the server has of a connection. */
class Session {
  readonly server: Postgres;
  readonly role: string;
  /** Told that the connection is lost. */
  readonly lose: () => void;
  readonly #queue: Statement[] = [];
  #xid = '';
  #isWrite = false;
  #isIn = false;
  #hasFailed = false;
  #isOver = false;
  /** Counts what came, so that a clock that was set for something earlier says nothing. */
  #turn = 0;

  constructor(server: Postgres, role: string, lose: () => void) {
    this.server = server;
    this.role = role;
    this.lose = lose;
    server.sessions.add(this);
  }

  take(statement: Statement): void {
    if (this.#isOver) return;
    this.#queue.push(statement);
    if (this.#queue.length === 1) this.go();
  }

  go(): void {
    const { server } = this;
    for (let next = this.#queue[0]; next !== undefined && !this.#isOver; next = this.#queue[0]) {
      this.#turn += 1;
      const turn = this.#turn;
      if (next.text.startsWith('begin') && !server.acquire(this)) {
        const isStill = () => this.#turn === turn && server.waiting.includes(this);
        server.world.after(LOCK_MS, undefined, () => isStill() && this.#refuse());
        return;
      }
      this.#queue.shift();
      const given = next.text === 'commit' ? this.#commit() : this.#execute(next);
      if (given === undefined) return;
      next.answer(given);
    }
    this.#turn += 1;
    const turn = this.#turn;
    if (this.#isIn) server.world.after(IDLE_MS, undefined, () => this.#turn === turn && this.#isIn && this.cut());
  }

  #refuse(): void {
    this.server.happened('a lock of the database is waited for too long');
    this.server.release(this);
    this.#hasFailed = true;
    this.#queue.shift()?.answer(new DatabaseError('55P03', 'canceling statement due to lock timeout'));
    this.go();
  }

  /** The connection ends: what was not committed is taken back. */
  cut(): void {
    if (this.#isOver) return;
    this.#end('rollback');
    this.#isOver = true;
    this.server.sessions.delete(this);
    this.lose();
  }

  #end(how: 'commit' | 'rollback'): void {
    if (this.#isIn) {
      this.server.engine.exec(how);
      if (this.#isWrite) this.server.became.set(this.#xid, how === 'commit' ? 'committed' : 'aborted');
    }
    this.#isIn = false;
    this.#hasFailed = false;
    this.server.release(this);
  }

  /** Undefined: nobody hears of it. */
  #commit(): Result | undefined {
    const { server } = this;
    if (!this.#isIn || this.#hasFailed) {
      this.#end('rollback');
      return { command: 'ROLLBACK', rows: [] };
    }
    const cut = this.#isWrite ? server.cutAt() : undefined;
    if (cut?.when === 'before') this.#end('rollback');
    else this.#end('commit');
    if (cut === undefined) return { command: 'COMMIT', rows: [] };
    server.happened(`a commit is lost ${cut.when} it`);
    if (cut.awayMs > 0) server.goAway(cut.awayMs);
    else this.cut();
    return undefined;
  }

  #execute({ text, values, at }: Statement): Result | Result[] | Error {
    const { server } = this;
    if (text.startsWith('begin')) {
      server.engine.exec('begin');
      [this.#isIn, this.#hasFailed, this.#isWrite] = [true, false, text.includes('xid')];
      this.#xid = String(server.became.size + 1);
      if (this.#isWrite) server.became.set(this.#xid, 'in progress');
      return [{ rows: [] }, { rows: [{ now: at, xid: this.#xid }] }];
    }
    if (text === 'rollback') {
      this.#end('rollback');
      return { command: 'ROLLBACK', rows: [] };
    }
    if (text.includes('pg_xact_status')) return { rows: [{ status: server.became.get(String(values[0])) ?? null }] };
    if (this.#hasFailed && !text.startsWith('rollback to'))
      return new DatabaseError('25P02', 'current transaction is aborted');
    try {
      if (text.startsWith('rollback to')) this.#hasFailed = false;
      return this.#run(text, values);
    } catch (thrown) {
      this.#hasFailed = true;
      const { message } = thrown as Error;
      return new DatabaseError(/unique|primary key/i.test(message) ? '23505' : '42601', `${message}: ${text}`);
    }
  }

  #run(text: string, values: readonly Value[]): Result {
    const { engine } = this.server;
    if (/^(?:create (?:role|schema)|revoke|grant|alter table)\b/.test(text) || text.includes('from pg_locks'))
      return { rows: [], rowCount: 0 };
    if (/^(?:savepoint|release|rollback|create)/.test(text)) {
      engine.exec(text);
      return { rows: [] };
    }
    if (/from pg_(?:roles|namespace)/.test(text)) return { rows: [{ yes: 1 }] };
    if (text.startsWith('select session_user')) return { rows: [{ name: this.role }] };
    if (text.includes('from pg_tables'))
      return { rows: engine.prepare("select 1 as yes from sqlite_master where name = 'meta'").all() };
    const many = /^insert into (\w+) \((.*?)\) select .*json_populate_recordset/.exec(text);
    if (many !== null) {
      const [, table = '', names = ''] = many;
      const columns = names.split(', ');
      // The database says who inserts.
      const signed = ['audit', 'approval_request'].includes(table) ? [...columns, 'by_role'] : columns;
      const statement = this.server.prepared(
        `insert into ${table} (${signed.join(', ')}) values (${signed.map(() => '?').join(', ')})`,
      );
      const rows = JSON.parse(String(values[0])) as Record<string, Value>[];
      for (const row of rows)
        statement.run(...signed.map(name => (name === 'by_role' ? this.role : (row[name] ?? null))));
      return { rows: [], rowCount: rows.length };
    }
    const statement = this.server.prepared(inSqlite(text));
    if (/^\s*select|\breturning\b/.test(text)) {
      const rows = statement.all(...values);
      return { rows, rowCount: rows.length };
    }
    return { rows: [], rowCount: Number(statement.run(...values).changes) };
  }
}

const texts = new Map<string, string>();
function inSqlite(text: string): string {
  const known = texts.get(text) ?? text.replaceAll('$', '?').replace(/::\w+/g, '').replaceAll(' for update', '');
  texts.set(text, known);
  return known;
}

/** In place of the client of pg: one connection of the process whose turn it is. */
export class PgClient extends EventEmitter {
  readonly #who: Process;
  readonly #server: Postgres;
  readonly #role: string;
  readonly connectionParameters = {};
  readonly connection = {
    stream: { ref: () => undefined, unref: () => undefined, destroy: () => this.close() },
  };
  #session: Session | undefined;
  /** When what was sent last arrives: nothing overtakes on a connection. */
  #there = 0;
  #back = 0;
  readonly #pending = new Set<(thrown: Error) => void>();

  constructor({ user }: { readonly user: string }) {
    super();
    const who = turnOf();
    if (who?.world.database === undefined) throw new Error('somebody connects to a database that is not there');
    this.#who = who;
    this.#server = who.world.database;
    this.#role = user;
    who.databases.add(this);
  }

  async connect(): Promise<void> {
    const { world } = this.#who;
    await this.#effect(() => undefined);
    await new Promise<void>(resolve => void world.after(2 * this.#latency(), this.#who, resolve));
    if (this.#server.isAway)
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
    this.#session = new Session(this.#server, this.#role, () => this.#comes(() => this.#lost()));
  }

  query({ text, values = [] }: { readonly text: string; readonly values?: readonly Value[] }): Promise<unknown> {
    const { world } = this.#who;
    const session = this.#session;
    if (session === undefined) return Promise.reject(new Error('Connection terminated'));
    return this.#effect(
      () =>
        new Promise((resolve, reject) => {
          this.#pending.add(reject);
          const answer = (given: Result | Result[] | Error) =>
            this.#comes(() => {
              this.#pending.delete(reject);
              if (given instanceof Error) reject(given);
              else resolve(given);
            });
          this.#there = Math.max(this.#there, this.#who.thawAt, world.now + this.#latency());
          world.after(this.#there - world.now, undefined, () =>
            session.take({ text, values, at: Math.floor(START + world.now), answer }),
          );
        }),
    );
  }

  async end(): Promise<void> {
    this.close();
  }

  /** What was sent arrives; then the server takes back what was not committed. */
  close(): void {
    const { world } = this.#who;
    const session = this.#session;
    this.#session = undefined;
    this.#who.databases.delete(this);
    if (session !== undefined) world.after(Math.max(0, this.#there - world.now) + 1, undefined, () => session.cut());
  }

  #lost(): void {
    if (this.#session === undefined) return;
    this.#session = undefined;
    const thrown = new Error('Connection terminated unexpectedly');
    for (const reject of this.#pending) reject(thrown);
    this.#pending.clear();
    this.emit('error', thrown);
    this.emit('end');
  }

  #latency(): number {
    return 0.2 + this.#who.world.chance.fraction();
  }

  #comes(happen: () => void): void {
    const { world } = this.#who;
    this.#back = Math.max(this.#back, world.now + this.#latency());
    world.after(this.#back - world.now, this.#who, happen);
  }

  async #effect<T>(work: () => T): Promise<Awaited<T>> {
    try {
      this.#who.begins();
      const result = work();
      this.#who.ends();
      return await result;
    } catch (thrown) {
      if (thrown instanceof Gone) return new Promise<never>(() => undefined);
      throw thrown;
    }
  }
}
