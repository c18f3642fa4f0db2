/** Sends the steps of a scenario: simulations to the sandbox, the rest to the service, which must be that sandbox. */
import type { Context } from '../../../cli/context.ts';
import { whichSandbox } from '../../../cli/which-sandbox.ts';
import type { ReadName, WriteName } from '../../../contract/calls.ts';
import { CliError } from '../../../core/errors.ts';
import { shellWord } from '../../../core/shell-quote.ts';
import type { Step } from '../../../scenario/read.ts';
import type { ExecuteStep } from '../../../scenario/run.ts';

/**
 * Throws `guarded` when the chosen profile speaks to anything but the sandbox that the simulations go to, and
 * `not_authenticated` when none is chosen and a step is one of the service: what steers the sandbox needs no profile.
 */
export async function stepPerformer(ctx: Context, steps: readonly Step[], file: string): Promise<ExecuteStep> {
  const needsService = steps.some(({ operation }) => operation.surface === 'service');
  await refuseElsewhere(ctx, file).catch((error: unknown) => {
    const isNoneChosen = error instanceof CliError && error.kind === 'not_authenticated';
    if (needsService || !isNoneChosen) throw error;
  });
  return async ({ surface, name, row }, input) => {
    if (surface === 'admin') return (await (await ctx.sandbox()).send(name as 'status', input as never)).result;
    if (row.effect === 'read') return ctx.read(name as ReadName, input as never);
    const written = await ctx.write(name as WriteName, input as never, {
      intent: `${name}, a step of the scenario`,
      confirmed: true,
      // A story shows the cards it made, not what a journal wrote on them.
      marker: false,
    });
    return written.result;
  };
}

async function refuseElsewhere(ctx: Context, file: string): Promise<void> {
  const { mode, baseUrl, profile } = await ctx.identity();
  const elsewhere = await ctx.sandboxElsewhere();
  const isSame =
    elsewhere === undefined
      ? mode === 'sandbox'
      : URL.canParse(baseUrl) && new URL(baseUrl).origin === elsewhere.origin;
  if (isSame) return;
  throw new CliError('guarded', {
    message: `a scenario plays in ${await whichSandbox(ctx)}, and the profile ${profile} speaks to ${baseUrl}`,
    hint: elsewhere
      ? 'cardwright whoami'
      : `cardwright --sandbox sandbox simulate run ${shellWord(file)}${ctx.yes ? ' --yes' : ''}`,
    outcome: 'not_sent',
  });
}
