/** The command that makes a plan anew: a plan file is never overwritten, so the new one gets a name that is free. */
import type { Context } from '../../cli/context.ts';
import { shellWord } from '../../core/shell-quote.ts';
import { nextPlanName } from '../../fleet/plan-file.ts';

const MOST_NAMES = 1000;

/** `fleet` is the fleet file as a word of a command; `path` is the name to begin with, such as the plan that is stale. */
export async function planAgain(ctx: Context, { fleet, path }: { fleet: string; path: string }): Promise<string> {
  let name = path;
  for (let tried = 0; tried < MOST_NAMES && (await isThere(ctx, name)); tried += 1) name = nextPlanName(name);
  return `cardwright fleet plan ${fleet} --out ${shellWord(name)}`;
}

function isThere(ctx: Context, path: string): Promise<boolean> {
  return ctx.readFile(path).then(
    () => true,
    () => false,
  );
}
