/** Sends one admin operation; with `--dry-run` nothing of the sandbox is touched. */
import type { Context } from '../../../cli/context.ts';
import type { InputOf, ResultOf } from '../../../contract/operation.ts';
import { ADMIN_OPERATIONS } from '../../../contract/sandbox/admin.ts';
import type { AdminName, AdminOperations, SandboxAdmin } from '../../../contract/sandbox/admin-calls.ts';
import { CliError } from '../../../core/errors.ts';

/**
 * To the sandbox that `elsewhere` finds. A change goes to the one that is started on this store, where there is one: it
 * knows then what was done, and sends what follows. Else to the one every command steers.
 */
export async function runAdmin<N extends AdminName>(
  ctx: Context,
  operation: N,
  input: InputOf<AdminOperations[N]>,
  elsewhere?: () => Promise<SandboxAdmin | undefined>,
): Promise<ResultOf<AdminOperations[N]>> {
  if (ctx.dryRun) {
    throw new CliError('usage', {
      message: 'simulations touch the sandbox alone and have no dry run',
      outcome: 'not_sent',
    });
  }
  const isChange = ADMIN_OPERATIONS[operation].effect !== 'read';
  const found = elsewhere === undefined && isChange ? await ctx.servers.control() : await elsewhere?.();
  const admin = found ?? (await ctx.sandbox());
  return (await admin.send(operation, input)).result;
}
