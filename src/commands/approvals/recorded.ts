/** The line of an answer to a request. The log adds who ran the command, and where. */

import type { Context } from '../../cli/context.ts';
import { cents, toUsd } from '../../core/money.ts';
import type { CheckedRequest } from '../../journal/approvals/request-file.ts';

/** A line that is lost is a warning: the answer is kept already. */
export async function recordAnswer(
  ctx: Context,
  { payload }: CheckedRequest,
  { operation }: { readonly operation: 'approvals.approve' | 'approvals.reject' },
): Promise<void> {
  const { account: profile, mode, origin, op, rows, cents: sum } = payload;
  const facts = { event: 'write', profile, mode, origin, operation, op, rows, outcome: 'done' } as const;
  try {
    await (await ctx.audit()).append({ ...facts, ...(sum > 0 && { amount: toUsd(cents(sum)) }) });
  } catch (thrown) {
    ctx.notice(`warning: ${operation} is not in the audit log: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
}
