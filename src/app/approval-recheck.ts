/**
 * An op of a shared journal that this process takes up, begun or released by somebody else. The database counts persons and
 * cannot verify a signature, and a role that may write records could have written any: so both are looked at again here.
 */
import { CliError } from '../core/errors.ts';
import { sumCents } from '../core/money.ts';
import { capital, rowsNamed, rowWords } from '../core/row-words.ts';
import { spendingOf } from '../core/spending.ts';
import { countedApprovals } from '../journal/approvals/counted.ts';
import { type ApprovalPayload, readPayload } from '../journal/approvals/payload.ts';
import { judgedRows, whyPending } from '../journal/approvals/rule.ts';
import { plannedOf } from '../journal/runs/run.ts';
import type { ApprovingAccount } from '../journal/store/op-store.ts';
import type { PlanRecord } from '../journal/wal/records.ts';
import { type History, mayBePerformed, type RowHistory } from '../journal/wal/replay.ts';

/** Throws as `ApprovalGate.recheck`; `checked` throws for a request that does not fit what stands beside it. */
export async function recheckOpenRows(
  account: ApprovingAccount,
  history: History,
  checked: (history: History) => Promise<unknown>,
): Promise<void> {
  const { plan, rows, end } = history;
  const open = [...rows.values()].filter(row => mayBePerformed(row, plan.bulk)).map(({ item }) => item);
  if (end !== undefined || open.length === 0) return;
  if (plan.approval !== undefined) {
    await checked(history);
    return refuseForged(account, history);
  }
  if (!(await account.mayHold())) return;
  const { rule } = await account.standing();
  // What the day holds was judged when it was claimed.
  const judged = { ...judgedRows(open), spending: spendingOf(open.map(plannedOf)), today: sumCents([]) };
  const why = whyPending({ ...rule, day: undefined }, judged);
  if (why !== undefined) throw nowHeld(history, why);
}

/** Throws `check_failed` for an op whose APPROVED holds too few signatures of those who might approve then. */
export async function refuseForged(account: ApprovingAccount, { plan, approved }: History): Promise<void> {
  const bytes = Buffer.from(plan.approval ?? '');
  const payload = readPayload(bytes);
  const [used, { approvers }] = [await account.usedAt(plan.op), await account.standing()];
  const then = approvers.filter(({ removedAt }) => removedAt === undefined || (used !== undefined && removedAt > used));
  const given = (approved?.envelopes ?? []).map((text, index) => ({
    name: `approval ${index + 1} of ${plan.op}`,
    text,
  }));
  const { approvals } = countedApprovals({ payload, bytes, approvers: then }, given);
  if (used === undefined || approvals.length < payload.needed) throw forged(plan, payload);
}

function forged({ op }: PlanRecord, { needed }: ApprovalPayload): CliError {
  return new CliError('check_failed', {
    message: `the records of ${op} say that it was approved, and they hold no ${needed === 1 ? 'approval' : `${needed} approvals`} that counts`,
    notes: ['Nothing was sent. Somebody has written records that no cardwright writes: tell an admin of the journal.'],
    reason: 'approval_forged',
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}

/** Rows of unknown outcome may be done: only those that were never sent are given up and asked for anew. */
function nowHeld({ plan: { op, bulk }, rows }: History, why: string): CliError {
  const all = [...rows.values()];
  const numbers = (found: readonly RowHistory[]) => found.map(({ item }) => item.row).sort((one, other) => one - other);
  const unsent = numbers(all.filter(row => mayBePerformed(row, bulk)));
  const unknown = numbers(all.filter(({ state }) => state === 'unknown'));
  return new CliError('guarded', {
    message: `${op} was begun without approval, and needs it now: ${why}`,
    notes: [
      `Give up what was never sent${bulk ? `, ${rowsNamed(unsent)}` : ''}: the command below.`,
      ...(unknown.length > 0
        ? [`${capital(rowsNamed(unknown))} may be done. Then look: cardwright ops resume ${op}`]
        : []),
      bulk
        ? `Then run the rows that were given up in a file of their own, and it asks for approval: cardwright ops show ${op} -o csv`
        : 'Then the same command asks for approval.',
    ],
    reason: 'approval_rule',
    hint: `cardwright ops resolve ${op} ${rowWords(unsent)} --as not-done --note "needs approval"`,
    outcome: 'not_sent',
    op,
  });
}
