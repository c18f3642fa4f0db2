/** Which sandbox a question is about. */
import type { Context } from './context.ts';

/** `the sandbox`, or with its address where it is not the one of this machine. */
export async function whichSandbox(ctx: Pick<Context, 'sandboxElsewhere'>): Promise<string> {
  const elsewhere = await ctx.sandboxElsewhere();
  return elsewhere === undefined ? 'the sandbox' : `the sandbox at ${elsewhere.origin}`;
}
