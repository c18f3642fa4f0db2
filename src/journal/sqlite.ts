/**
 * The journal of one machine: SQLite in `<state>/journal.db`, WAL, every commit synced. Writes of one turn share a commit.
 * A file that is newer, damaged, a copy, put back from a backup, or on a file system of a network is refused before anything is sent.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError } from '../core/errors.ts';
import { shellWord } from '../core/shell-quote.ts';
import { bound, type Connection, plainRow, type SqlRow, type Statement } from '../engine/connection.ts';
import { connectTo, engineCode, isBusy, isDamage, isFull, losesAll, violates } from '../engine/open.ts';
import { networkFileSystem } from '../files/file-system.ts';
import { type FileDependencies, makeFolders, preparePrivateFolder, privateFile } from '../files/private-files.ts';
import type { Clock } from '../platform/host.ts';
import { type Database, type Job, QueuedDatabase, type Sql, sql, type Transaction, textOf } from './database.ts';
import { otherSchema, SCHEMA_VERSION, TABLES } from './schema.ts';

export const JOURNAL_FILE = 'journal.db';

export interface SqliteSettings {
  readonly stateFolder: string;
  readonly files: FileDependencies;
  readonly clock: Pick<Clock, 'now'>;
  /** A copy, and one that was put back, is opened too: to say what it lacks before a person accepts it. */
  readonly isAccepting?: boolean;
}

/** How long another process that writes is waited for. */
const PATIENCE_MS = 20_000;

/** Whether this machine has a journal. Nothing is opened. */
export function hasJournal(stateFolder: string): boolean {
  return existsSync(join(stateFolder, JOURNAL_FILE));
}

/**
 * Opens the journal of this machine and makes it where there is none. Throws `guarded` (14) for a folder that cannot be
 * written, a network file system, a copy and the state of an earlier build, `check_failed` (15) for a file that is damaged
 * or newer. `memory` as folder keeps nothing.
 */
export async function openSqlite({
  stateFolder,
  files,
  clock,
  isAccepting = false,
}: SqliteSettings): Promise<Database> {
  const path = stateFolder === 'memory' ? 'memory' : join(stateFolder, JOURNAL_FILE);
  if (path !== 'memory') await refusePlace(stateFolder, path, files);
  let connection: Connection | undefined;
  try {
    if (path !== 'memory') privateFile(path, files.platform);
    connection = connectTo(path);
    const database = new SqliteDatabase(connection, path, clock);
    await database.prepare(isAccepting);
    return database;
  } catch (thrown) {
    connection?.close();
    throw inWords(thrown, path);
  }
}

/** Moves a damaged journal out of the way, beside its folder; resolves to where it is now. Its operations are not guessed at. */
export function setAsideJournal(stateFolder: string, stamp: string): string {
  const path = join(stateFolder, JOURNAL_FILE);
  const aside = join(stateFolder, `damaged-${stamp}`);
  makeFolders(aside, 0o700);
  for (const end of ['', '-wal', '-shm'])
    if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, join(aside, `${JOURNAL_FILE}${end}`));
  return aside;
}

async function refusePlace(stateFolder: string, path: string, files: FileDependencies): Promise<void> {
  const old = ['ops', 'intents', 'audit.jsonl'].map(name => join(stateFolder, name)).find(existsSync);
  if (old !== undefined && !existsSync(path)) {
    throw new CliError('guarded', {
      message: `${old} is of an earlier build, and this one cannot read it`,
      notes: ['Finish what is open with that build; then move it away:'],
      hint: `mv ${shellWord(old)} ${shellWord(`${old}-earlier`)}`,
      outcome: 'not_sent',
    });
  }
  await preparePrivateFolder(stateFolder, files);
  const network = await networkFileSystem(stateFolder, files.platform);
  if (network === undefined) return;
  throw new CliError('guarded', {
    message: `${stateFolder} is on a network file system (${network}), where locks and syncs do not keep a journal whole`,
    notes: ['A shared journal is a PostgreSQL database: cardwright journal init --help'],
    hint: 'export XDG_STATE_HOME=/a/folder/of/this/machine',
    outcome: 'not_sent',
  });
}

class SqliteDatabase extends QueuedDatabase {
  readonly isShared = false;
  readonly lock = sql``;
  readonly shown: string;
  readonly #connection: Connection;
  readonly #path: string;
  /** By their text, and of most by their template. */
  readonly #statements = new Map<string, Statement>();
  readonly #known = new WeakMap<readonly string[], Statement>();
  readonly #tx: Transaction;
  #level: 'normal' | 'full' = 'full';
  /** Audit lines of all accounts that are noted in `journal.seen`. */
  #seen = 0;
  #closed: Promise<void> | undefined;

  constructor(connection: Connection, path: string, clock: Pick<Clock, 'now'>) {
    super();
    this.#connection = connection;
    this.#path = path;
    this.shown = path;
    this.#tx = {
      all: async <Row = SqlRow>(statement: string | Sql) =>
        this.#prepared(statement)
          .all(...valuesOf(statement))
          .map(plainRow) as Row[],
      run: async statement => Number(this.#prepared(statement).run(...valuesOf(statement)).changes),
      insert: async (table, columns, rows) => {
        const places = columns.map(() => '?').join(', ');
        const statement = this.#prepared(`insert into ${table} (${columns.join(', ')}) values (${places})`);
        for (const row of rows) statement.run(...row.map(bound));
      },
      now: async () => clock.now(),
    };
  }

  /** Settings of the connection, and the tables where there are none. */
  async prepare(isAccepting: boolean): Promise<void> {
    const connection = this.#connection;
    await this.#patiently(() => connection.exec('pragma foreign_keys = on; pragma temp_store = memory'));
    // Looked at before anything is changed: switching to WAL would already write to a file of somebody else.
    const isMade = await this.#patiently(() => this.#refuseOther(isAccepting));
    if (this.#path !== 'memory') {
      await this.#patiently(() => connection.exec('pragma journal_mode = wal; pragma synchronous = full'));
    }
    if (isMade) return;
    await this.transaction(tx => this.#make(tx));
    // Another process may have been quicker.
    await this.#patiently(() => this.#refuseOther(isAccepting));
  }

  /** True where the tables are there; throws for those of another number or another place. */
  #refuseOther(isAccepting: boolean): boolean {
    // Read first: other processes go on.
    const seen = this.#path === 'memory' ? undefined : readSeen(this.#path);
    const names = this.#connection.prepare("select name from sqlite_master where type = 'table'").all() as {
      name: string;
    }[];
    if (names.length === 0) return false;
    if (!names.some(({ name }) => name === 'meta')) throw notOurs(this.#path);
    const [meta] = this.#connection.prepare('select journal, version, place from meta').all() as {
      journal: string;
      version: number;
      place: string;
    }[];
    if (meta === undefined) throw notOurs(this.#path);
    if (Number(meta.version) !== SCHEMA_VERSION) throw otherSchema(this.#path, Number(meta.version));
    const lines = this.#lines();
    const [place] = meta.place.split(' ');
    const isCopy = this.#path !== 'memory' && place !== placeOf(statSync(this.#path));
    const isBehind = seen?.journal === meta.journal && (seen.isOther || seen.lines > lines);
    if ((isCopy || isBehind) && !isAccepting) throw copied(this.#path);
    this.#seen = lines;
    this.id = meta.journal;
    return true;
  }

  /** Audit lines of all accounts. */
  #lines(): number {
    const [row] = this.#prepared('select coalesce(sum(audit_seq), 0) as lines from account').all();
    return Number((row as { lines: number } | undefined)?.lines);
  }

  /** After the commit of a claim, before anything is sent. */
  #noteSeen(lines: number): void {
    if (lines <= this.#seen) return;
    this.#seen = lines;
    writeSeen(this.#path, this.id, lines);
  }

  async #make(tx: Transaction): Promise<void> {
    const [there] = await tx.all("select name from sqlite_master where type = 'table' and name = 'meta'");
    if (there !== undefined) return;
    for (const table of TABLES) this.#connection.exec(table);
    const journal = Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(16))).toString('hex');
    const place = this.#path === 'memory' ? '' : placeOf(statSync(this.#path));
    await tx.insert(
      'meta',
      ['journal', 'version', 'created', 'place'],
      [[journal, SCHEMA_VERSION, await tx.now(), place]],
    );
  }

  async close(): Promise<void> {
    this.#closed ??= this.ended().then(() => this.#connection.close());
    await this.#closed;
  }

  protected async commit(jobs: readonly Job[]): Promise<readonly unknown[]> {
    const kind = jobs[0]?.kind;
    const tx = { ...this.#tx };
    try {
      if (kind !== 'read') this.#syncAs(jobs.every(({ isSoon }) => isSoon) ? 'normal' : 'full');
      await this.#patiently(() => this.#connection.exec(kind === 'read' ? 'begin' : 'begin immediate'));
      const values: unknown[] = [];
      for (const job of jobs) values.push(await job.run(tx));
      const written = kind === 'alone' && this.#path !== 'memory' ? this.#lines() : undefined;
      this.#connection.exec('commit');
      if (written !== undefined) this.#noteSeen(written);
      return values;
    } catch (thrown) {
      this.#rollBack();
      throw thrown;
    }
  }

  protected maySplit(thrown: unknown): boolean {
    return !losesAll(thrown) && !isDamage(thrown) && !isBusy(thrown);
  }

  protected inWords(thrown: unknown): unknown {
    return inWords(thrown, this.#path);
  }

  /** With `normal` a commit is written and not synced; the next synced one takes it along, for the log is synced as a whole. */
  #syncAs(level: 'normal' | 'full'): void {
    if (this.#level === level || this.#path === 'memory') return;
    this.#connection.exec(`pragma synchronous = ${level}`);
    this.#level = level;
  }

  #rollBack(): void {
    try {
      if (this.#connection.isTransaction) this.#connection.exec('rollback');
    } catch {
      // The engine has taken it back by itself, or the file is lost; the next statement says so.
    }
  }

  #prepared(given: string | Sql): Statement {
    const known = typeof given === 'string' ? undefined : this.#known.get(given.texts);
    if (known !== undefined) return known;
    const text = typeof given === 'string' ? given : textOf(given, () => '?');
    const statement = this.#statements.get(text) ?? this.#connection.prepare(text);
    this.#statements.set(text, statement);
    if (typeof given !== 'string') this.#known.set(given.texts, statement);
    return statement;
  }

  /** Tries again while another process writes. */
  async #patiently<T>(work: () => T): Promise<T> {
    for (let waited = 0, pause = 1; ; waited += pause, pause = Math.min(pause * 2, 50)) {
      try {
        return work();
      } catch (thrown) {
        if (!isBusy(thrown) || waited >= PATIENCE_MS) throw thrown;
        await new Promise(resolve => void setTimeout(resolve, pause));
      }
    }
  }
}

const valuesOf = (given: string | Sql) => (typeof given === 'string' ? [] : given.values.map(bound));

/** Tells a file from its copy: a copy is another file, or was made at another time. */
function placeOf({ ino, birthtimeMs }: Stats): string {
  return `${ino}:${Math.round(birthtimeMs)}`;
}

// How far the journal has come stands in a file beside it, made anew after each claim, which says which file it is. Where one of the
// two, or both, were put back over themselves, they do not fit any more.

interface Seen {
  readonly journal: string;
  /** Audit lines of all its accounts. */
  readonly lines: number;
  /** The file says that it is another one: its text was put back. */
  readonly isOther: boolean;
}

const seenFile = (path: string) => join(dirname(path), 'journal.seen');

/** Undefined where there is none, and for one that was cut off. */
function readSeen(path: string): Seen | undefined {
  let file: number | undefined;
  try {
    file = openSync(seenFile(path), 'r');
    const { journal, lines, place } = JSON.parse(readFileSync(file, 'utf8'));
    return { journal: String(journal), lines: Number(lines), isOther: place !== placeOf(fstatSync(file)) };
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** One that cannot be written stays behind, which refuses nothing. */
function writeSeen(path: string, journal: string, lines: number): void {
  const next = `${seenFile(path)}.new`;
  let file: number | undefined;
  try {
    file = openSync(next, 'w', 0o600);
    writeSync(file, JSON.stringify({ journal, lines, place: placeOf(fstatSync(file)) }));
    renameSync(next, seenFile(path));
  } catch {
    return;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** An error of the engine in the user's words; anything else as it is. */
function inWords(thrown: unknown, path: string): unknown {
  if (engineCode(thrown) === undefined || violates(thrown)) return thrown;
  if (isDamage(thrown)) {
    return new CliError('check_failed', {
      message: `the journal ${path} is damaged: what it says of operations cannot be trusted`,
      reason: 'damaged',
      notes: [
        'Put it back from a backup and run: cardwright journal accept',
        'Without one, look at cards and wallet first; then a new journal begins with: cardwright journal accept --set-aside',
      ],
      hint: 'cardwright journal accept --help',
      outcome: 'not_sent',
      cause: thrown,
    });
  }
  const why = isFull(thrown)
    ? 'the disk is full'
    : isBusy(thrown)
      ? 'another process has been writing it for 20 seconds'
      : (thrown as Error).message;
  return new CliError('guarded', {
    message: `the journal ${path} cannot be written: ${why}`,
    hint: 'cardwright doctor',
    outcome: 'not_sent',
    cause: thrown,
  });
}

function notOurs(path: string): CliError {
  return new CliError('check_failed', {
    message: `${path} is a database, and no journal of cardwright`,
    hint: `mv ${shellWord(path)} ${shellWord(`${path}.other`)}`,
    outcome: 'not_sent',
  });
}

export function copied(path: string): CliError {
  return new CliError('guarded', {
    message: `${path} is a copy, or was put back from a backup: what was done since, or elsewhere, is not in it`,
    notes: ['With two journals the same change could be made twice. If this one alone is used from now on:'],
    hint: 'cardwright journal accept',
    outcome: 'not_sent',
  });
}

/**
 * Says that a copied or restored journal is the one that counts from now on: its place gets a mark that no copy made before has. Who
 * asks a person first is the caller.
 */
export async function acceptPlace(database: Database): Promise<void> {
  const path = database.shown;
  const mark = Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(8))).toString('hex');
  await database.transaction(tx => tx.run(sql`update meta set place = ${`${placeOf(statSync(path))} ${mark}`}`));
  rmSync(seenFile(path), { force: true });
}
