/** Yes or no before a command changes something of this machine. */
import { UNCHANGED } from '../terminal/error-text.ts';
import { cannotConfirm, declined } from '../writes/guard.ts';
import type { Context } from './context.ts';

/**
 * Resolves when the answer is yes, or `--yes` was given. Throws `not_confirmed`.
 * @param intent what would be done: `Remove profile team`
 */
export async function confirmed(ctx: Context, intent: string, question = `${intent}?`): Promise<void> {
  if (ctx.ui.yes) return;
  if (!ctx.ui.canAsk) throw cannotConfirm(intent).with({ notes: [UNCHANGED] });
  if (await ctx.ui.prompts.confirm(question, { flag: '--yes' })) return;
  throw declined();
}

/** `the sandbox`, or with its address where it is not the one of this machine. */
export async function whichSandbox(ctx: Context): Promise<string> {
  const elsewhere = await ctx.sandbox.elsewhere();
  return elsewhere === undefined ? 'the sandbox' : `the sandbox at ${elsewhere.origin}`;
}
