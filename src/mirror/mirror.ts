/** The copy of an account as commands use it: whose it is, brought up to date, looked at, read, put aside. */
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ExportRow } from '../books/rows.ts';
import type { Reader } from '../contract/service.ts';
import { instantOf, isoTime, MINUTE, SECOND } from '../core/durations.ts';
import { CliError, notSent } from '../core/errors.ts';
import { withLock } from '../engine/lock.ts';
import { privateFolder } from '../files/private-files.ts';
import type { Environment, Host, Randomness } from '../platform/host.ts';
import {
  type FactName,
  type MirrorDatabase,
  moveAway,
  type Opening,
  openForReading,
  openForSync,
  removeMirror,
} from './file.ts';
import { DEFAULT_RATE, PacedReader, type PacedReaderParts } from './paced-reader.ts';
import { queryCopy } from './query.ts';
import {
  baseOf,
  keptInstant,
  type ReconcileOptions,
  type Reconciliation,
  readInstant,
  reconcileMirror,
} from './reconcile.ts';
import { type CardQuery, copyReader, findCards, findTransactions, type TransactionQuery } from './search.ts';
import { keepExport } from './statement-rows.ts';
import { hasMovedSince, type OwnOperation, openWindows, type SyncParts, syncMirror } from './sync.ts';

export interface SyncOptions {
  readonly full?: boolean | undefined;
  /** Requests a minute; when left out 300, and no limit for the sandbox of this user. */
  readonly rate?: number | undefined;
}

export interface MirrorParts
  extends Opening,
    Pick<Host, 'clock' | 'random' | 'signal'>,
    Pick<SyncParts, 'serviceNow' | 'ownOperations' | 'warn' | 'onRows'>,
    Pick<PacedReaderParts, 'onPause'> {
  /** The profile says `mirror off`. */
  readonly forbidden: () => Promise<boolean>;
  /** Whether this machine has changed something at the service since, ms by its clock, of what no journal keeps. */
  readonly hasChangedSince: (since: number) => Promise<boolean>;
  readonly account: () => Promise<Account>;
  readonly reader: () => Promise<Reader>;
  /** Asks for the time of a service whose clock may be moved, ms UTC; undefined where it goes as ours does, or does not tell. */
  readonly movedClock?: () => Promise<number | undefined>;
  /** Told when no more rows come. */
  readonly onEnd: () => void;
  /** Starts this program once more as the process of a query. */
  readonly program: readonly [string, ...string[]];
  /** Its environment, without secrets. */
  readonly env: Environment;
}

/** How long a sync waits for another one. */
const LOCK_PATIENCE_MS = MINUTE;
/** Both clocks of a copy are told in whole seconds, and their times are no more exact. */
const ROUNDED_MS = 2 * SECOND;

export type Mirror = ReturnType<typeof createMirror>;
export type Copy = Awaited<ReturnType<Mirror['read']>>;

export function createMirror(parts: MirrorParts) {
  const { path, platform, clock, random, signal } = parts;

  async function locked<T>(work: () => Promise<T>): Promise<T> {
    privateFolder(dirname(path), platform);
    return withLock(`${path}.lock`, { platform, clock, random, timeoutMs: LOCK_PATIENCE_MS, signal }, work);
  }

  async function refuseForbidden(): Promise<void> {
    if (!(await parts.forbidden())) return;
    const { profile } = await parts.account();
    const why = `the setting mirror of profile ${profile} is off: no copy of this account may lie on this machine`;
    throw notSent('guarded', why, `cardwright profiles set ${profile} mirror on`);
  }

  /** Work on the open file, which is written to. */
  async function onFile<T>(work: (db: MirrorDatabase) => T | Promise<T>): Promise<T> {
    using db = openForSync(parts);
    return await work(db);
  }

  /** Work on the file of this account with what a sync needs. */
  async function asking<T>({ full = false, rate }: SyncOptions, work: (sync: SyncParts) => Promise<T>): Promise<T> {
    await refuseForbidden();
    try {
      return await onFile(async db => {
        const account = await parts.account();
        checkOrigin(db, account);
        const reader = await parts.reader();
        // Nobody else waits for the sandbox of this user.
        const most = rate ?? (account.mode === 'sandbox' ? undefined : DEFAULT_RATE);
        const ask = new PacedReader({ reader, clock, signal, rate: most, onPause: parts.onPause });
        await bindAccount(db, account, { ask, random });
        return work({ ...parts, db, ask, full });
      });
    } finally {
      parts.onEnd();
    }
  }

  const sync = (options: SyncOptions = {}, more: Partial<Pick<SyncParts, 'readsCards' | 'ownOperations'>> = {}) =>
    locked(() => asking(options, asked => syncMirror({ ...asked, ...more })));

  /** Whether the copy is young enough; `changed`: this machine has done something since that it must show. */
  async function freshnessOf(maxAgeMs: number, own: readonly OwnOperation[]) {
    // What is wrong with the file is told by the sync.
    using db = await (async () => openForReading(parts))().catch(() => undefined);
    if (db === undefined) return 'old';
    const syncedAt = db.number('synced_at') ?? Number.NEGATIVE_INFINITY;
    const age = clock.now() - syncedAt;
    // A clock that was set back makes no copy young for ever.
    if (age < 0 || age > maxAgeMs || openWindows(db) > 0) return 'old';
    // By the clock of a sandbox, too: who moved it expects of a copy what the time there says.
    const [asOf, now] = [db.number('as_of'), await parts.movedClock?.()];
    const ageThere = asOf === undefined || now === undefined ? 0 : now - asOf;
    if (ageThere < -ROUNDED_MS || ageThere > maxAgeMs + ROUNDED_MS) return 'old';
    const hasChanged = (await parts.hasChangedSince(syncedAt)) || (await hasMovedSince(db, own, syncedAt));
    return hasChanged ? 'changed' : 'fresh';
  }

  /**
   * The copy for reading, its instant with it. Nothing is sent. Throws `unreachable` (12) where there is none, and
   * `check_failed` where it is damaged.
   */
  async function read() {
    await refuseForbidden();
    const db = openForReading(parts);
    try {
      const asOf = db?.number('as_of');
      if (db === undefined || asOf === undefined)
        throw notSent('unreachable', 'there is no mirror of this account on this machine yet', 'cardwright books sync');
      checkOrigin(db, await parts.account());
      return {
        db,
        /** ISO 8601 UTC. */
        as_of: isoTime(asOf),
        /** Reading operations, answered by the copy. */
        reader: copyReader(db),
        /** Rows as the lists show them, newest first. Throws `usage` for words without a letter or digit. */
        transactions: (query: TransactionQuery) => findTransactions(db, query),
        cards: (query: CardQuery) => findCards(db, query),
        /** One statement that only reads, in a process of its own. Throws `usage` where it is refused, `wait_expired` late. */
        query: (sql: string, timeoutMs: number) => queryCopy({ path, sql }, timeoutMs, parts),
        [Symbol.dispose]: () => db.close(),
      };
    } catch (error) {
      db?.close();
      throw error;
    }
  }

  return {
    path,
    /** Throws `guarded` where the profile forbids the file, another sync runs, or the file is of another account. */
    sync: (options?: SyncOptions) => sync(options),
    read,
    /** Nothing is sent. */
    status: () => mirrorStatus(parts),
    /** Puts the copy aside, or deletes it. Resolves to whether there was one, and where it is now. */
    reset: ({ hard }: { readonly hard: boolean }) =>
      locked(async (): Promise<{ existed: boolean; moved_to?: string }> => {
        if (!existsSync(path)) return { existed: false };
        if (!hard) return { existed: true, moved_to: moveAway(path) };
        removeMirror(path);
        return { existed: true };
      }),
    /** The copy, brought up to date first where it is older than that. A shared journal that is away is told, and kept out of it. */
    async readFresh(maxAgeMs: number) {
      await refuseForbidden();
      const own = await parts.ownOperations().catch((thrown: unknown) => {
        if (!(thrown instanceof CliError) || thrown.kind !== 'guarded') throw thrown;
        parts.warn(`operations of the journal are not in what is shown: ${thrown.message}`);
        return [];
      });
      const freshness = await freshnessOf(maxAgeMs, own);
      // What was frozen and unfrozen leaves all numbers of an account as they were.
      if (freshness !== 'fresh')
        await sync({}, { ownOperations: async () => own, readsCards: freshness === 'changed' });
      return read();
    },
    /** Brings the copy up to date, and holds it against the last exact checkpoint. Keeps the checkpoint and a report. */
    reconcile: (options: ReconcileOptions): Promise<Reconciliation> =>
      locked(async () => {
        if (!options.offline)
          return asking({}, asked =>
            reconcileMirror({ ...parts, ...asked }, options, () =>
              readInstant({ ...parts, ...asked }, options.patienceMs),
            ),
          );
        // Says what there is to say of a copy that is not there, damaged or of another account.
        (await read())[Symbol.dispose]();
        return onFile(db => reconcileMirror({ db, random }, options, async () => keptInstant(db)));
      }),
    /** Keeps an export; resolves to the one before of the same period, format and account. No sync is waited for. */
    keepExport: (row: ExportRow) => onFile(db => keepExport(db, row)),
  };
}

// Whose mirror it is

interface Account {
  readonly profile: string;
  readonly mode: string;
  /** Base address of the service, or `embedded`. */
  readonly origin: string;
  /** Tells one key from another, under a random value. Undefined for the embedded sandbox, whose key is another one in each process. */
  readonly keyPrint: ((salt: string) => Promise<string>) | undefined;
}

/** Cards that are looked for where the key is another one. */
const LOOKED_FOR = 25;

/** Throws `guarded` where the file is of another origin or mode. Nothing is sent, and the key is not asked for. */
function checkOrigin(db: MirrorDatabase, account: Account): void {
  const [origin, mode] = [db.fact('origin'), db.fact('mode')];
  if (origin === undefined || (origin === account.origin && mode === account.mode)) return;
  throw another(
    account,
    `it is a copy of ${origin} (${mode}), and the profile speaks to ${account.origin} (${account.mode})`,
  );
}

/**
 * Binds a new file, or checks the key of an old one. With another key the newest known cards are looked for; throws
 * `guarded` when none is there.
 */
async function bindAccount(db: MirrorDatabase, account: Account, parts: { ask: PacedReader; random: Randomness }) {
  const { origin, mode, keyPrint } = account;
  let ofKey = {};
  if (keyPrint !== undefined) {
    const salt = db.fact('salt') ?? Buffer.from(parts.random.bytes(16)).toString('hex');
    const [print, known] = [await keyPrint(salt), db.fact('key_print')];
    if (known === print) return;
    if (known !== undefined && !(await showsTheSame(db, parts.ask))) {
      const why = 'the key was changed, and none of the newest cards known here is there: another account?';
      throw another(account, why, { isAsked: true });
    }
    ofKey = { salt, key_print: print };
  }
  db.commit(() => {
    for (const [name, value] of Object.entries<string>({ origin, mode, ...ofKey })) db.setFact(name as FactName, value);
  });
}

/** A service keeps its cards: one that was known is there. */
async function showsTheSame(db: MirrorDatabase, ask: PacedReader): Promise<boolean> {
  const cards = db.all<{ card_id: string; created_ms: number | null }>(
    'select card_id, created_ms from card where gone_at is null order by created_ms desc limit ?',
    LOOKED_FOR,
  );
  for (const { card_id, created_ms } of cards) {
    const card = await ask.readIfThere('cards.get', { card_id });
    // Sandboxes give ids anew.
    if (card !== undefined && (instantOf(card.created_at) ?? null) === created_ms) return true;
  }
  // Of an account without cards nothing is known that could be another's.
  return cards.length === 0;
}

/** `isAsked`: requests that read were sent before it was seen. */
function another({ profile }: Account, why: string, { isAsked = false } = {}): CliError {
  return new CliError('guarded', {
    message: `the mirror of profile ${profile} is of another account: ${why}`,
    notes: ['Nothing was written. The hint moves the old copy aside; nothing is deleted.'],
    hint: 'cardwright books reset',
    ...(!isAsked && { outcome: 'not_sent' as const }),
  });
}

// What a copy holds, how old it is, and what it found out about the service.

/** What `books status` tells. Throws `check_failed` where the file is damaged. */
async function mirrorStatus(place: MirrorParts) {
  const { path } = place;
  using db = openForReading(place);
  const count = (table: string) => db?.count(table) ?? 0;
  const asOf = db?.number('as_of');
  return {
    path,
    exists: db !== undefined,
    size: ['', '-wal'].reduce((sum, part) => sum + (statSync(path + part, { throwIfNoEntry: false })?.size ?? 0), 0),
    as_of: asOf === undefined ? null : isoTime(asOf),
    cards: count('card where gone_at is null'),
    transactions: count('record where gone_at is null'),
    gone: count('record where gone_at is not null'),
    merchants: count('merchant'),
    changes: count('record_change'),
    moves: count('move'),
    open_windows: count('open_window'),
    last_exact_cut: (db && baseOf(db))?.cut_id ?? null,
    totals: db?.fact('totals') ?? null,
    filters: db?.fact('filters') ?? null,
    order: db?.fact('order') ?? null,
  };
}
