/** Reads wallet, balances and records of one instant, as far as a service that gives no snapshot lets one. */
import type { WalletRow } from '../books/rows.ts';
import { SECOND } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { newestWallet } from './account-rows.ts';
import type { MirrorDatabase } from './database.ts';
import { openWindows, type SyncParts, syncMirror } from './sync.ts';

export interface Instant {
  readonly wallet: WalletRow;
  /** ms UTC by the service. */
  readonly at: number;
  /** Number of the sync that read it. */
  readonly sync: number;
}

export interface InstantParts extends SyncParts {
  readonly signal: AbortSignal;
}

const LONGEST_PAUSE_MS = 30 * SECOND;

/**
 * Syncs until the wallet is the same before and after and agrees with the balances, waiting 1, 2, 4 … 30 s between. Two
 * readings that are equal and still disagree are an instant too: nothing moves, and two numbers of the service differ.
 * Throws `wait_expired` when something moved each time, naming it.
 */
export async function readInstant(parts: InstantParts, patienceMs: number): Promise<Instant> {
  const { db, clock, signal } = parts;
  const deadline = clock.monotonic() + patienceMs;
  let before: string | undefined;
  for (let pause = SECOND; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    await syncMirror({ ...parts, full: parts.full && before === undefined, readsCards: true });
    const wallet = newestWallet(db);
    if (wallet === undefined) throw new RangeError('a sync kept no wallet');
    const moved = movedIn(db);
    const isWhole = openWindows(db) === 0;
    const shown = JSON.stringify([wallet, db.all('select card_id, status, balance_cents from card order by card_id')]);
    const isStill = moved.length === 0 && isWhole;
    if (isStill && (agrees(db, wallet) || shown === before)) {
      return { wallet, at: db.number('as_of') ?? 0, sync: db.number('finished_sync') ?? 0 };
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
export function keptInstant(db: MirrorDatabase): Instant {
  const wallet = newestWallet(db);
  const [at, sync] = [db.number('as_of'), db.number('finished_sync')];
  if (wallet === undefined || at === undefined || sync === undefined) throw new RangeError('a copy without a sync');
  const isOne = db.number('sync') === sync && openWindows(db) === 0 && db.fact('moved') === '';
  if (isOne) return { wallet, at, sync };
  throw new CliError('wait_expired', {
    message: 'the account moved while the mirror was synced, or a sync was stopped; there is no verdict',
    hint: 'cardwright books sync',
    outcome: 'not_sent',
  });
}

function movedIn(db: MirrorDatabase): string[] {
  return (db.fact('moved') ?? '').split(' ').filter(Boolean);
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
  return new CliError('wait_expired', {
    message: `the account moved at each reading for ${Math.round(patienceMs / SECOND)} s: ${what}; there is no verdict`,
    notes: ['What was read is kept in the mirror.'],
    hint: 'cardwright books reconcile --wait-timeout 10m',
    outcome: 'not_sent',
  });
}
