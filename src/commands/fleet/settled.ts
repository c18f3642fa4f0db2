/** Waiting until nothing of another apply can be on its way any more. */
import type { Context } from '../../cli/context.ts';
import type { MadePlan } from './make-plan.ts';

/** As long as the journal waits before it believes that a card is not there. */
const QUIET_MS = 150_000;

/**
 * True when it had to wait: then the plan is made anew. An apply of another machine may have sent more than the list shows,
 * where a card of the fleet is young and this journal does not know it. The list of the built-in sandbox is exact.
 */
export async function waitUntilSettled(ctx: Context, { document, account, scope, made }: MadePlan): Promise<boolean> {
  const spends = document.totals.create + document.totals.fund > 0;
  if (!spends || scope.mode === 'sandbox' || ctx.dryRun) return false;
  const young = [...account.cards.values()].filter(
    ({ mark, createdAt }) => mark?.fleet === document.fleet && account.now - Date.parse(createdAt) < QUIET_MS,
  );
  if (young.length === 0) return false;
  const unknown = young.filter(({ id }) => !made.has(id));
  if (unknown.length === 0) return false;
  const newest = Math.max(...unknown.map(({ createdAt }) => Date.parse(createdAt)));
  const wait = newest + QUIET_MS - account.now;
  const what = unknown.length === 1 ? '1 card was' : `${unknown.length} cards were`;
  ctx.notice(
    `${what} made by another apply a moment ago; waiting ${Math.ceil(wait / 1_000)} s for what may be on its way.`,
  );
  await ctx.clock.sleep(wait, ctx.signal);
  return true;
}
