/** Which 3DS challenges count: open, not expired by the service's clock, and the one that is meant. */

import type { Item } from '../contract/calls.ts';
import { FINISHED_CHALLENGE } from '../contract/resources.ts';
import { CHALLENGE_LIFE } from '../contract/spans.ts';
import { instantOf } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { dollars, toCents } from '../core/money.ts';
import { sameCommandWith } from '../core/shell-quote.ts';

export type Challenge = Item<'challenges.list'>;

/**
 * Open ones at `now`, ms UTC on the service's clock, those that expire first at the head. A code without
 * an end counts as open.
 */
export function openChallenges(rows: readonly Challenge[], now: number): readonly Challenge[] {
  const open = rows.filter(row => !FINISHED_CHALLENGE.has((row.status ?? '').toLowerCase()) && !(endOf(row) <= now));
  // Lists come newest first; two without an end differ by no number.
  return open.reverse().sort((one, other) => endOf(one) - endOf(other) || 0);
}

/** The one challenge among those that match. Throws `usage` for several, unless the latest is wanted. */
export function theOne(matching: readonly Challenge[], latest: boolean): Challenge | undefined {
  const [first, ...others] = matching;
  if (others.length === 0 || first === undefined) return first;
  if (latest) return others.reduce((last, each) => (endOf(each) >= endOf(last) ? each : last), first);
  throw new CliError('usage', {
    message: `${matching.length} open challenges match, and only one can be meant`,
    notes: [...matching.map(facts), 'Narrow it with --card, --merchant or --amount, or take the newest with --latest.'],
    hint: sameCommandWith('--latest'),
  });
}

/**
 * When a challenge opened, ms UTC: as the service says, where it does, else its end less the life that is assumed.
 * Undefined when that cannot be told: without an end, or with one so far ahead of `now` that its life is another one.
 */
export function openedAt(row: Challenge, now: number): number | undefined {
  const { created_at: said } = row as { readonly created_at?: unknown };
  const created = instantOf(said);
  if (created !== undefined) return created;
  const opened = endOf(row) - CHALLENGE_LIFE;
  return opened <= now + CLOCK_SLACK_MS ? opened : undefined;
}

/** Answers tell the time in whole seconds, and some seconds pass on the way. */
const CLOCK_SLACK_MS = 5_000;

/** Id, merchant and amount; never the code. */
export function facts({ id, card_id, merchant, amount }: Challenge): string {
  const parts = [id, card_id, merchant, amount === undefined || amount === null ? undefined : dollars(toCents(amount))];
  return parts.filter(part => part).join('  ');
}

function endOf({ expires_at }: Challenge): number {
  return instantOf(expires_at) ?? Number.POSITIVE_INFINITY;
}
