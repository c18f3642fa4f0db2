/** The audit log that several people share, for the commands that read either one. */

import type { Flaw } from '../../audit/flaw.ts';
import type { Context } from '../../cli/context.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { flag } from '../../contract/field.ts';
import { CliError } from '../../core/errors.ts';
import { cents, toUsd } from '../../core/money.ts';
import type { SharedChain, SharedEntry } from '../../team/chain.ts';
import type { Behind } from '../../team/shared-ops.ts';
import { statementsOver } from '../../team/statements.ts';

/** Of `audit list`, `verify` and `export`. */
export const SHARED = option(
  flag({ doc: 'The log of the account in the shared journal, in place of that of this machine.', basis: OURS }),
);

export interface ReadChain extends SharedChain {
  readonly account: string;
  readonly place: string;
  /** What the journal lacks; undefined where it has everything that is known of it. */
  readonly behind: Behind | undefined;
}

/**
 * Throws `usage` where no shared journal or no account in it is named, `guarded` where it cannot be read. What the journal lacks
 * is a warning, unless the caller tells it.
 */
export async function sharedChain(ctx: Context, how?: { readonly warns: boolean }): Promise<ReadChain> {
  const account = await ctx.teamAccount();
  if (account === undefined) {
    throw usage('which account of the shared journal is not named', 'export CARDWRIGHT_JOURNAL_ACCOUNT=main');
  }
  const { readSharedChain } = await import('../../team/chain.ts');
  await using connection = await ctx.teamJournal();
  const { behind } = await ctx.journalStatus(connection, account, how);
  const chain = await readSharedChain(statementsOver(connection), account);
  return { ...chain, behind, account, place: `${account} in ${connection.shown}` };
}

/** A line as the log of a machine has it: when it happened, its amount in USD, and what came of it. */
export function shownLine({ at, asked_at, cents: moved = 0, ...line }: SharedEntry) {
  const { done, outcome = done === undefined ? undefined : outcomeOf({ ...line, done }) } = line;
  return {
    ...line,
    at: asked_at ?? at,
    ...(asked_at !== undefined && { recorded_at: at }),
    ...(moved > 0 && { amount: toUsd(cents(moved)) }),
    ...(outcome !== undefined && { outcome }),
  };
}

function outcomeOf({ done, refused = 0, not_sent = 0 }: Pick<SharedEntry, 'refused' | 'not_sent'> & { done: number }) {
  const rows = done + refused + not_sent;
  if (done === rows) return 'done';
  if (done > 0) return `${done} of ${rows} done`;
  return not_sent === rows ? 'not_sent' : 'refused';
}

/** Exit 15, and the line. */
export function brokenShared(place: string, { line, why }: Flaw): CliError {
  return new CliError('check_failed', {
    message: `the audit log of ${place} is broken at line ${line}: ${why}`,
    notes: ['The lines before it are intact; the lines after it cannot be trusted. Tell an admin of the journal.'],
    hint: 'cardwright audit export --shared --out shared-broken.jsonl',
    evidence: { path: place, line, why },
  });
}

/** Exit 15: every line that is there is right, and they are not all. */
export async function lackingShared({ why }: Behind, { account, place }: Pick<ReadChain, 'account' | 'place'>) {
  const { acceptedBy } = await import('../../team/loss.ts');
  return new CliError('check_failed', {
    message: `the audit log of ${place} is unbroken, and it lacks what was written last: ${why}`,
    notes: [acceptedBy(account)],
    hint: 'cardwright journal push',
    evidence: { path: place, why },
  });
}
