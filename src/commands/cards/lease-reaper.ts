/** Ends leased cards that their runs left behind. */
import type { Context } from '../../cli/context.ts';
import type { Item } from '../../contract/calls.ts';
import { fromWholeList } from '../../contract/whole-list.ts';
import { CliError } from '../../core/errors.ts';
import type { Noted } from '../../events/cleanup-log.ts';
import type { GuardDecision } from '../../writes/guard.ts';
import { LEASE_MARK, terminate } from './leases.ts';

const MARKED = /^(lease_[0-9a-z]+) until (\S+)$/;

/**
 * Terminates leased cards whose run is gone, and those of any machine whose time is over by the service's clock.
 * Resolves to their ids. Throws `not_confirmed` off a terminal without `--yes`, `guarded` for a live key.
 */
export async function reapLeases(ctx: Context): Promise<readonly string[]> {
  const { profile, baseUrl } = await ctx.identity();
  const abandoned = (await (await ctx.cleanupLog()).abandoned('lease')).filter(
    ({ leftover }) => leftover.profile === profile && leftover.base_url === baseUrl,
  );
  // Asked before the cards are read: what is settled by then has its card among them.
  const waiting = await waitingOps(ctx, abandoned);
  const gone = new Set(abandoned.map(({ leftover }) => leftover.facts['lease']));
  const cards = await leasedCards(ctx);
  const due = cards.filter(({ lease, until }) => gone.has(lease) || until <= ctx.serviceNow()).map(({ id }) => id);
  if (due.length > 0) {
    await ctx.pipeline.admit({
      audited: { event: 'run', operation: 'cards.terminate', rows: due.length },
      operations: ['cards.terminate'],
      ask: verdict => askForReaping(ctx, verdict, due),
    });
  }
  const failed: unknown[] = [];
  for (const id of due) {
    // One that cannot be ended keeps no other from its end.
    await terminate(ctx, id, { isReaping: true }).catch((error: unknown) => void failed.push(error));
  }
  if (failed.length > 0) throw notAllEnded(failed, due.length);
  // Only now: whatever stopped this before must find them again.
  for (const noted of abandoned) {
    const op = waiting.get(noted);
    if (op === undefined) await noted.forget();
    else ctx.notice(mayStillCome(op));
  }
  return due;
}

/** The ops of leases that are not settled, and whose card is not known: a resume may make it, for no program. */
async function waitingOps(ctx: Context, abandoned: readonly Noted[]): Promise<ReadonlyMap<Noted, string>> {
  const waiting = new Map<Noted, string>();
  for (const noted of abandoned) {
    const { op, card_id: card } = noted.leftover.facts;
    if (op !== undefined && card === undefined && (await mayMakeCard(ctx, op))) waiting.set(noted, op);
  }
  return waiting;
}

async function mayMakeCard(ctx: Context, op: string): Promise<boolean> {
  try {
    const { state, counts } = await (await ctx.journal()).show(op);
    return state !== 'finished' && state !== 'rejected' && counts.open + counts.unknown > 0;
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    // Its run ended before it was begun. One that is damaged may have been sent.
    if (thrown.kind === 'usage') return false;
    if (thrown.kind === 'check_failed') return true;
    throw thrown;
  }
}

function mayStillCome(op: string): string {
  return `note: ${op} is not settled, and may still make the card of a lease; settle it, and run --reap again: cardwright ops resume ${op}`;
}

/** The first that failed; where others are terminated, it does not say that nothing was sent. */
function notAllEnded([first, ...more]: readonly unknown[], of: number): unknown {
  const ended = of - 1 - more.length;
  const isRefusal = first instanceof CliError && ['not_sent', 'refused'].includes(first.facts.outcome ?? 'not_sent');
  if (ended === 0 || !isRefusal) return first;
  const message = `${ended} of ${of} leased cards ${ended === 1 ? 'is' : 'are'} terminated: ${first.facts.message}`;
  return new CliError('partly_failed', { ...first.facts, message, outcome: 'refused' });
}

async function askForReaping(ctx: Context, verdict: GuardDecision, due: readonly string[]): Promise<void> {
  if (ctx.yes) return;
  const command = 'cardwright cards lease --reap --yes';
  const intent = `Terminate ${due.length} leased cards`;
  if (ctx.canAsk) return verdict === 'go' ? undefined : ctx.ask({ intent, command });
  throw new CliError('not_confirmed', {
    message: `${due.length} leased ${due.length === 1 ? 'card is' : 'cards are'} left: ${due.join(', ')}`,
    hint: command,
    reason: 'nobody_to_ask',
    outcome: 'not_sent',
  });
}

interface LeasedCard {
  readonly id: string;
  readonly lease: string;
  /** ms UTC. */
  readonly until: number;
}

async function leasedCards(ctx: Context): Promise<readonly LeasedCard[]> {
  const reader = await ctx.reader();
  const because = 'A leased card that is not seen would stay open';
  const found: LeasedCard[] = [];
  for (const status of ['active', 'frozen'] as const) {
    const list = { reader, operation: 'cards.list', input: { status, per_page: 100 }, because } as const;
    const marked = await fromWholeList(list, async pages => {
      const cards: LeasedCard[] = [];
      for await (const { data } of pages) {
        for (const card of data) {
          const mark = markOf(card);
          if (mark !== undefined) cards.push({ id: card.id, ...mark });
        }
      }
      return cards;
    });
    found.push(...marked);
  }
  return found;
}

function markOf({ metadata }: Item<'cards.list'>): { readonly lease: string; readonly until: number } | undefined {
  const [, lease, until = ''] = MARKED.exec(metadata?.[LEASE_MARK] ?? '') ?? [];
  const ends = Date.parse(until);
  return lease === undefined ? undefined : { lease, until: Number.isNaN(ends) ? Number.POSITIVE_INFINITY : ends };
}
