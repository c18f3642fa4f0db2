/** Holds the copy against an earlier checkpoint, and keeps the result with its report. */
import type { OwnNews } from '../books/own-rows.ts';
import { type Reconciled, type Reconciling, reconcile } from '../books/reconcile.ts';
import type { CheckpointCardRow, CheckpointRow, CountedCard, MoveRow, TxChangeRow, WalletRow } from '../books/rows.ts';
import type { Checkpoint } from '../books/statement-lines.ts';
import { MINUTE, SECOND } from '../core/durations.ts';
import { CliError, notSent, usage } from '../core/errors.ts';
import { randomName } from '../core/names.ts';
import type { Randomness } from '../platform/host.ts';
import { newestWallet } from './account-rows.ts';
import type { KeptCheckpoint, MirrorDatabase } from './file.ts';
import { leftOut, recordSums } from './record-sums.ts';
import { openWindows, type SyncParts, syncMirror } from './sync.ts';

export interface ReconcileOptions {
  /** Id of a checkpoint, or ms UTC: the last checkpoint at or before. The last exact one when left out. */
  readonly from?: string | number | undefined;
  readonly soleOperator?: boolean | undefined;
  /** Of the copy as the last sync left it; nothing is asked. */
  readonly offline?: boolean | undefined;
  /** How long to wait for an account that moves, ms. */
  readonly patienceMs: number;
  /** What is kept as the report of it. */
  readonly report: (done: Reconciliation) => string;
}

export interface Reconciliation extends Reconciled {
  /** Undefined for the first checkpoint. */
  readonly from: CheckpointRow | undefined;
  readonly cards: readonly CountedCard[];
  readonly requests: number;
  /** Records since the first checkpoint of the two that count as nothing. */
  readonly leftOut: ReturnType<typeof leftOut>;
}

/** Wallet, balances and records as they were read for one checkpoint. `at` is ms UTC by the service, `sync` the one that read it. */
type Instant = ReturnType<typeof keptInstant>;

/**
 * Holds the copy against an earlier checkpoint, and keeps the one that this makes with its report. Whoever calls it holds the
 * lock of the mirror.
 */
export async function reconcileMirror(
  { db, random }: { readonly db: MirrorDatabase; readonly random: Randomness },
  options: ReconcileOptions,
  read: () => Promise<Instant>,
): Promise<Reconciliation> {
  // A checkpoint that is not there is told before anything is asked.
  const from = baseOf(db, options.from);
  const instant = await read();
  const checkpointId = `cut_${randomName(random.bytes(6))}`;
  const done = heldAgainst(db, from, { ...instant, checkpointId, soleOperator: options.soleOperator });
  if (done === undefined) {
    throw new CliError('contract_mismatch', {
      message: 'the wallet tells no total_deposited or no total_spent, and without them no sum can be proved',
      operation: 'wallet.get',
    });
  }
  const made = { ...done, requests: instant.requests };
  const report = options.report(made);
  db.commit(() => {
    const changes = db.get<{ n: number | null }>('select max(rowid) as n from record_change')?.n ?? 0;
    db.insert('checkpoint', { ...made.checkpoint, sync: instant.sync, changes });
    for (const row of made.checkpointCards) db.insert('checkpoint_card', { ...row });
    db.insert('report', {
      report_id: checkpointId.replace('cut_', 'rec_'),
      at_ms: instant.at,
      from_cut: from?.cut_id ?? null,
      to_cut: checkpointId,
      verdict: made.verdict,
      residual_cents: made.residual,
      report,
    });
  });
  return made;
}

type Holding = Pick<Reconciling, 'checkpointId' | 'at' | 'wallet' | 'soleOperator'>;

/** The copy as it is now against a checkpoint, or against nothing. Undefined where the wallet does not tell its totals. */
function heldAgainst(
  db: MirrorDatabase,
  from: KeptCheckpoint | undefined,
  { checkpointId, at, wallet, soleOperator }: Holding,
) {
  if (wallet.total_deposited_cents === null || wallet.total_spent_cents === null) return undefined;
  const cards = db.all<CountedCard>('select card_id, last4, label, status, balance_cents, metadata, gone_at from card');
  const done = reconcile({
    ...{ checkpointId, at, wallet, soleOperator },
    base: from && checkpointOf(db, from),
    cards,
    records: recordSums(db, from, from && { changes: changesSince(db, from), ended: endsOf(db, from) }),
    moves: db.all<MoveRow>('select * from moves order by at_ms, op, row'),
    news: from === undefined ? new Map() : ownNews(db, from),
  });
  return { ...done, from, cards, leftOut: leftOut(db, 'first_sync > ?', from?.sync ?? -1) };
}

/**
 * What the copy shows now, held against the last exact checkpoint and kept nowhere: nobody has read it as one instant, so it
 * proves nothing. Undefined where the copy has no wallet, or one that does not tell its totals.
 */
export function unprovedCheckpoint(db: MirrorDatabase): Checkpoint | undefined {
  const wallet = newestWallet(db);
  const at = db.number('as_of');
  if (wallet === undefined || at === undefined) return undefined;
  const held = heldAgainst(db, baseOf(db), { checkpointId: 'unproved', at, wallet });
  return held && { checkpoint: held.checkpoint, cards: held.checkpointCards };
}

/** A checkpoint with its cards. */
export function checkpointOf(db: MirrorDatabase, checkpoint: KeptCheckpoint): Checkpoint {
  const cards = db.all<CheckpointCardRow>('select * from checkpoint_card where cut_id = ?', checkpoint.cut_id);
  return { checkpoint, cards };
}

/** The last exact checkpoint, or the one that is named by its id or a time. Throws `usage` where that is not there. */
export function baseOf(db: MirrorDatabase, from?: string | number): KeptCheckpoint | undefined {
  if (from === undefined)
    return db.get<KeptCheckpoint>('select * from checkpoint where exact = 1 order by sync desc, at_ms desc limit 1');
  const [where, which] =
    typeof from === 'string'
      ? ['cut_id = ?', `checkpoint ${from}`]
      : [
          'at_ms <= ? order by at_ms desc, sync desc limit 1',
          `checkpoint at or before ${new Date(from).toISOString()}`,
        ];
  const found = db.get<KeptCheckpoint>(`select * from checkpoint where ${where}`, from);
  if (found !== undefined) return found;
  throw usage(`there is no ${which}`, "cardwright books query 'select cut_id, at_ms, exact from cuts'");
}

function changesSince(db: MirrorDatabase, { at_ms, changes }: KeptCheckpoint): TxChangeRow[] {
  return db.all<TxChangeRow>(
    'select tx_id, field, old, new, max(seen, ? + 1) as seen from record_change where rowid > ? order by rowid',
    ...[at_ms, changes],
  );
}

/** From sending a termination to its end, whose time nothing tells. */
const ENDED_WITHIN_MS = MINUTE;

/** Cards that were terminated, and until when at the latest: those of the base, and those that own rows ended. */
function endsOf(db: MirrorDatabase, { cut_id, at_ms }: KeptCheckpoint): ReadonlyMap<string, number> {
  const ends = db.all<{ card_id: string; at_ms: number }>(
    `select card_id, at_ms + ? as at_ms from moves
        where operation = 'cards.terminate' and outcome = 'done' and card_id is not null
      union all select card_id, ? from checkpoint_card where cut_id = ? and status = 'terminated' order by at_ms desc`,
    ...[ENDED_WITHIN_MS, at_ms, cut_id],
  );
  return new Map(ends.map(row => [row.card_id, row.at_ms]));
}

/**
 * Own rows that the base did not know, or not as done. Its sums could not show those that it did not know and that were sent
 * before it, nor those that were unknown already when the books began: what those did is a part of the first checkpoint,
 * whatever it was.
 */
function ownNews(db: MirrorDatabase, from: KeptCheckpoint): ReadonlyMap<string, OwnNews> {
  const first = db.get<KeptCheckpoint>('select * from checkpoint where baseline = 1 order by sync limit 1') ?? from;
  const rows = db.all<{ row: string; news: OwnNews }>(
    `select op || '.' || row as row, case
        when outcome <> 'done' or first_sync > ? and at_ms >= ? then 'new'
        when first_sync > ? or first_sync <= ? or at_ms < ? or ? = 0 then 'may_be_in'
        else 'not_in' end as news
      from move where first_sync > ? or outcome = 'done' and done_sync > ?`,
    ...[from.sync, from.at_ms, from.sync, first.sync, first.at_ms, from.exact, from.sync, from.sync],
  );
  return new Map(rows.map(({ row, news }) => [row, news]));
}

// Reads wallet, balances and records of one instant, as far as a service that gives no snapshot lets one.

const LONGEST_PAUSE_MS = 30 * SECOND;

/**
 * Syncs until the wallet is the same before and after and agrees with the balances, waiting 1, 2, 4 … 30 s between. Two
 * readings that are equal and still disagree are an instant too: nothing moves, and two numbers of the service differ.
 * Throws `wait_expired` when something moved each time, naming it.
 */
export async function readInstant(
  parts: SyncParts & { readonly signal: AbortSignal },
  patienceMs: number,
): Promise<Instant> {
  const { db, ask, clock, signal } = parts;
  const deadline = clock.monotonic() + patienceMs;
  let before: string | undefined;
  for (let pause = SECOND; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    await syncMirror({ ...parts, full: parts.full && before === undefined, readsCards: true });
    const wallet = newestWallet(db);
    if (wallet === undefined) throw new RangeError('a sync kept no wallet');
    const moved = (db.fact('moved') ?? '').split(' ').filter(Boolean);
    const isWhole = openWindows(db) === 0;
    const shown = JSON.stringify([wallet, db.all('select card_id, status, balance_cents from card order by card_id')]);
    const isStill = moved.length === 0 && isWhole;
    if (isStill && (agrees(db, wallet) || shown === before)) {
      const [at, sync] = [db.number('as_of') ?? 0, db.number('finished_sync') ?? 0];
      return { wallet, at, sync, requests: ask.requests };
    }
    before = isStill ? shown : (before ?? '');
    const left = deadline - clock.monotonic();
    if (left <= 0) throw stillMoving(patienceMs, isWhole ? moved : ['transactions']);
    await clock.sleep(Math.min(pause, left), signal);
  }
}

/**
 * The instant of the last sync, without asking. Throws `wait_expired` where the account moved while it was read, or a
 * later sync did not come to its end: what was read then is of no one instant.
 */
export function keptInstant(db: MirrorDatabase) {
  const wallet = newestWallet(db);
  const [at, sync] = [db.number('as_of'), db.number('finished_sync')];
  if (wallet === undefined || at === undefined || sync === undefined) throw new RangeError('a copy without a sync');
  const isOne = db.number('sync') === sync && openWindows(db) === 0 && db.fact('moved') === '';
  if (isOne) return { wallet, at, sync, requests: 0 };
  const why = 'the account moved while the mirror was synced, or a sync was stopped; there is no verdict';
  throw notSent('wait_expired', why, 'cardwright books sync');
}

/** Whether balances and states of the cards are those that the wallet counts, frozen cards with or without. */
function agrees(db: MirrorDatabase, { cards_total_balance_cents, cards_active }: WalletRow): boolean {
  const sums = db.get<{ sum: number; active: number; count: number }>(
    `select coalesce(sum(balance_cents), 0) as sum,
      coalesce(sum(case when status = 'active' then balance_cents end), 0) as active,
      coalesce(sum(status = 'active'), 0) as count
      from card where status <> 'terminated' and gone_at is null`,
  );
  const { sum = 0, active = 0, count = 0 } = sums ?? {};
  const total = cards_total_balance_cents;
  return (total === null || total === sum || total === active) && (cards_active === null || cards_active === count);
}

function stillMoving(patienceMs: number, moved: readonly string[]): CliError {
  const what = moved.length === 0 ? 'balances of cards' : moved.map(name => name.replace(/_cents$/, '')).join(', ');
  const why = `the account moved at each reading for ${Math.round(patienceMs / SECOND)} s: ${what}; there is no verdict`;
  const notes = ['What was read is kept in the mirror.'];
  return notSent('wait_expired', why, { notes, hint: 'cardwright books reconcile --wait-timeout 10m' });
}
