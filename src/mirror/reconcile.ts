/** Holds the copy against the last exact checkpoint, and keeps the checkpoint and the report of it. */
import type { LateRow } from '../books/late-rows.ts';
import { type Reconciled, reconcile } from '../books/reconcile.ts';
import type { CardRow, CheckpointCardRow, CheckpointRow, MoveRow, TxChangeRow, WalletRow } from '../books/rows.ts';
import type { Checkpoint } from '../books/statement-lines.ts';
import { MINUTE } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { randomName } from '../core/random-name.ts';
import type { Randomness } from '../platform/host.ts';
import { newestWallet } from './account-rows.ts';
import type { MirrorDatabase } from './database.ts';
import { cardsAt, movesAt, recordSumsAt, walletAt } from './earlier-checkpoint.ts';
import { foldOlder, refuseFolded } from './fold.ts';
import { type Instant, type InstantParts, keptInstant, readInstant } from './instant.ts';
import type { KeptCheckpoint } from './kept-checkpoint.ts';
import { type LeftOut, leftOutSince } from './other-currencies.ts';
import { recordSums } from './record-sums.ts';

export interface ReconcileOptions {
  /** Id of a checkpoint, or ms UTC: the last checkpoint at or before. The last exact one when left out. */
  readonly from?: string | number | undefined;
  /** Id of a kept checkpoint; the account as it is now when left out. Nothing is asked and nothing is kept then. */
  readonly to?: string | undefined;
  readonly soleOperator?: boolean | undefined;
  /** Of the copy as the last sync left it; nothing is asked. */
  readonly offline?: boolean | undefined;
  /** How long to wait for an account that moves, ms; two minutes when left out. */
  readonly patienceMs?: number | undefined;
  /** What is kept as the report of it. */
  readonly report: (done: Reconciliation) => string;
}

export interface Reconciliation extends Reconciled {
  /** Undefined for the first checkpoint. */
  readonly from: CheckpointRow | undefined;
  readonly cards: readonly CardRow[];
  readonly requests: number;
  /** Records since the first checkpoint of the two that count as nothing. */
  readonly leftOut: LeftOut;
}

interface ReconcileParts extends InstantParts {
  readonly random: Randomness;
  /** Records that are older are left out after an exact checkpoint; all are kept when left out. */
  readonly months?: number | undefined;
}

/** Whoever calls it holds the lock of the mirror. */
export async function reconcileMirror(parts: ReconcileParts, options: ReconcileOptions): Promise<Reconciliation> {
  const { db, ask } = parts;
  // A checkpoint that is not there is told before anything is asked.
  const from = baseOf(db, options.from);
  const instant = await readInstant(parts, options.patienceMs ?? 2 * MINUTE);
  return judged(parts, { from, instant, requests: ask.requests }, options);
}

/** As `reconcileMirror`, of the instant of the last sync; nothing is asked. */
export function reconcileCopy(parts: Judging, options: ReconcileOptions): Reconciliation {
  const from = baseOf(parts.db, options.from);
  return judged(parts, { from, instant: keptInstant(parts.db), requests: 0 }, options);
}

/**
 * Two kept checkpoints held against each other once more: records and own rows are those that were known at the later one. Without
 * `from` the checkpoint that it was held against when it was made.
 */
export function reconcileCheckpoints(
  db: MirrorDatabase,
  { from: asked, to: name, soleOperator = false }: Pick<ReconcileOptions, 'from' | 'soleOperator'> & { to: string },
): Reconciliation {
  const to = checkpointNamed(db, name);
  const from = asked === undefined ? madeAgainst(db, to) : baseOf(db, asked);
  if (from !== undefined && !isBefore(from, to)) {
    throw new CliError('usage', { message: `${from.cut_id} is not before ${to.cut_id}`, outcome: 'not_sent' });
  }
  refuseFolded(db, to);
  const cards = cardsAt(db, to);
  const terminated = new Set(cards.filter(card => card.status === 'terminated').map(card => card.card_id));
  const done = reconcile({
    base: from && { checkpoint: from, cards: cardsOf(db, from) },
    checkpointId: to.cut_id,
    at: to.at_ms,
    wallet: walletAt(db, to),
    cards,
    records: recordSumsAt(db, { from, to, terminated }),
    moves: movesAt(db, to),
    late: from === undefined ? new Map() : lateRows(db, from, to.sync),
    fresh: freshRows(db, from),
    soleOperator,
  });
  return { ...done, from, cards, requests: 0, leftOut: leftOutSince(db, from, to) };
}

function madeAgainst(db: MirrorDatabase, { cut_id }: KeptCheckpoint): KeptCheckpoint | undefined {
  const report = db.get<{ from_cut: string | null }>('select from_cut from report where to_cut = ?', cut_id);
  return report?.from_cut == null ? undefined : checkpointNamed(db, report.from_cut);
}

function isBefore(from: KeptCheckpoint, to: KeptCheckpoint): boolean {
  return from.cut_id !== to.cut_id && from.sync <= to.sync && from.at_ms <= to.at_ms;
}

interface Read {
  readonly from: KeptCheckpoint | undefined;
  readonly instant: Instant;
  readonly requests: number;
}

type Judging = Pick<ReconcileParts, 'db' | 'random' | 'months'>;

function judged(
  { db, random, months }: Judging,
  { from, instant, requests }: Read,
  options: ReconcileOptions,
): Reconciliation {
  const { wallet } = instant;
  if (wallet.total_deposited_cents === null || wallet.total_spent_cents === null) {
    throw new CliError('contract_mismatch', {
      message: 'the wallet tells no total_deposited or no total_spent, and without them no sum can be proved',
      operation: 'wallet.get',
    });
  }
  const checkpointId = `cut_${randomName(random.bytes(6))}`;
  const { done, cards } = heldAgainst(db, from, {
    checkpointId,
    at: instant.at,
    wallet,
    soleOperator: options.soleOperator,
  });
  const reconciliation = { ...done, from, cards, requests, leftOut: leftOutSince(db, from) };
  keep(db, reconciliation, { instant, report: options.report(reconciliation), months });
  return reconciliation;
}

interface Holding {
  readonly checkpointId: string;
  /** ms UTC. */
  readonly at: number;
  readonly wallet: WalletRow;
  readonly soleOperator?: boolean | undefined;
}

/** The copy as it is against a checkpoint, or against nothing. */
function heldAgainst(db: MirrorDatabase, from: KeptCheckpoint | undefined, { soleOperator = false, ...of }: Holding) {
  const cards = db.all<CardRow>('select * from cards');
  const terminated = new Set(cards.filter(card => card.status === 'terminated').map(card => card.card_id));
  const done = reconcile({
    ...of,
    base: from && { checkpoint: from, cards: cardsOf(db, from) },
    cards,
    records: recordSums(db, from, { changes: from === undefined ? [] : changesSince(db, from), terminated }),
    moves: db.all<MoveRow>('select * from moves order by at_ms, op, row'),
    late: from === undefined ? new Map() : lateRows(db, from),
    fresh: freshRows(db, from),
    soleOperator,
  });
  return { done, cards };
}

/**
 * What the copy shows now, held against the last exact checkpoint and kept nowhere: nobody has read it as one instant, so it
 * proves nothing. Undefined where the copy has no wallet, or one that does not tell its totals.
 */
export function unprovedCheckpoint(db: MirrorDatabase): Checkpoint | undefined {
  const wallet = newestWallet(db);
  const at = db.number('as_of');
  if (wallet === undefined || at === undefined) return undefined;
  if (wallet.total_deposited_cents === null || wallet.total_spent_cents === null) return undefined;
  const { done } = heldAgainst(db, baseOf(db, undefined), { checkpointId: 'unproved', at, wallet });
  return { checkpoint: done.checkpoint, cards: done.checkpointCards };
}

function baseOf(db: MirrorDatabase, from: string | number | undefined): KeptCheckpoint | undefined {
  if (from === undefined)
    return db.get<KeptCheckpoint>('select * from checkpoint where exact = 1 order by sync desc, at_ms desc limit 1');
  if (typeof from === 'string') return checkpointNamed(db, from);
  const last = 'select * from checkpoint where at_ms <= ? order by at_ms desc, sync desc limit 1';
  return (
    db.get<KeptCheckpoint>(last, from) ??
    noCheckpoint(`there is no checkpoint at or before ${new Date(from).toISOString()}`)
  );
}

function checkpointNamed(db: MirrorDatabase, name: string): KeptCheckpoint {
  return (
    db.get<KeptCheckpoint>('select * from checkpoint where cut_id = ?', name) ??
    noCheckpoint(`there is no checkpoint ${name}`)
  );
}

function noCheckpoint(message: string): never {
  throw new CliError('usage', {
    message,
    hint: "cardwright books query 'select cut_id, at_ms, exact from cuts'",
    outcome: 'not_sent',
  });
}

function cardsOf(db: MirrorDatabase, { cut_id }: KeptCheckpoint): readonly CheckpointCardRow[] {
  return db.all<CheckpointCardRow>('select * from checkpoint_card where cut_id = ?', cut_id);
}

function changesSince(db: MirrorDatabase, { changes, at_ms }: KeptCheckpoint): TxChangeRow[] {
  return db.all<TxChangeRow>(
    'select tx_id, field, old, new, max(seen, ? + 1) as seen from record_change where rowid > ? order by rowid',
    at_ms,
    changes,
  );
}

/** Own rows that the base did not know: what they did came after it. */
function freshRows(db: MirrorDatabase, from: KeptCheckpoint | undefined): ReadonlySet<string> {
  const rows = db.all<{ row: string }>(
    `select op || '.' || row as row from move where first_sync > ?`,
    from?.sync ?? -1,
  );
  return new Set(rows.map(({ row }) => row));
}

/**
 * Own rows that became done since the base. Its sums could not show those that it did not know, nor those that were
 * unknown already when the books began: what those did is a part of the first checkpoint, whatever it was. `sync`: the last
 * one that is looked at.
 */
function lateRows(
  db: MirrorDatabase,
  from: KeptCheckpoint,
  sync = Number.MAX_SAFE_INTEGER,
): ReadonlyMap<string, LateRow> {
  const first = db.get<KeptCheckpoint>('select * from checkpoint where baseline = 1 order by sync limit 1') ?? from;
  const rows = db.all<{ row: string; may: number }>(
    `select op || '.' || row as row, first_sync > ? or first_sync <= ? or at_ms < ? or ? = 0 as may from move
      where outcome = 'done' and done_sync > ? and done_sync <= ? and (first_sync <= ? or at_ms < ?)`,
    ...[from.sync, first.sync, first.at_ms, from.exact],
    ...[from.sync, sync, from.sync, from.at_ms],
  );
  return new Map(rows.map(({ row, may }) => [row, may === 1 ? 'may_be_in' : 'not_in']));
}

interface Keeping {
  readonly instant: Instant;
  readonly report: string;
  readonly months: number | undefined;
}

function keep(db: MirrorDatabase, done: Reconciliation, { instant, report, months }: Keeping): void {
  db.commit(() => {
    const changes = db.get<{ n: number | null }>('select max(rowid) as n from record_change')?.n ?? 0;
    insert(db, 'checkpoint', { ...done.checkpoint, sync: instant.sync, changes });
    for (const row of done.checkpointCards) insert(db, 'checkpoint_card', row);
    insert(db, 'report', {
      report_id: done.checkpoint.cut_id.replace('cut_', 'rec_'),
      at_ms: instant.at,
      from_cut: done.from?.cut_id ?? null,
      to_cut: done.checkpoint.cut_id,
      verdict: done.verdict,
      residual_cents: done.residual,
      report,
    });
    if (months !== undefined && done.checkpoint.exact === 1) foldOlder(db, { at: instant.at, months });
  });
}

function insert(db: MirrorDatabase, table: string, row: object): void {
  const entries = Object.entries(row) as [string, string | number | null][];
  const [names, marks] = [entries.map(([name]) => name).join(', '), entries.map(() => '?').join(', ')];
  db.run(`insert into ${table} (${names}) values (${marks})`, ...entries.map(([, value]) => value));
}
