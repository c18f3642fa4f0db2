/**
 * Rows that ask for other amounts of the same targets than a run that was killed. Where every amount of a file was edited
 * no row is shared any more, and yet its cards would be paid for a second time.
 */

import { DAY } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { sameCommandWith } from '../../core/same-command.ts';
import { readOrError } from '../store/read-ops.ts';
import type { History } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { countedDigests, createDigests, rowBeforeChoice, sharedRowsOf } from './row-likeness.ts';
import { mayBeOf } from './same-account.ts';
import { secondTime } from './second-time.ts';
import { type Sharing, standingOf } from './shared-rows.ts';
import { inHandOf } from './take-up.ts';

/** An unfinished run that was last worked on longer ago is no file that was just edited. */
const EDITED_MS = DAY;

/**
 * Throws `guarded` when rows of many are about targets of a run of many that is not finished and that no living process has;
 * with `again` it is said. The rows themselves are others: those that are the same were refused before.
 */
export async function refuseEditedRows(dependencies: JournalDependencies, { plan, record }: Sharing): Promise<void> {
  const { store, clock, notice } = dependencies;
  if (!plan.bulk) return;
  const wanted = createDigests(plan.rows, targetOf);
  if (!wanted.any()) return;
  const isOfAccount = mayBeOf(store, record);
  for await (const head of store.heads()) {
    const { op } = head;
    const other = await head.plan();
    if (other === undefined || !other.bulk || !(await isOfAccount(other))) continue;
    // Twins have been looked for; of a run that brings cards to a balance the amounts are its own matter.
    if (other.digest === record.digest || other.digest === plan.digestInOrder) continue;
    if (!head.unfinished && (await head.end()) !== undefined) continue;
    const history = await readOrError(store, op);
    if (history === undefined || history instanceof CliError || !history.planned) continue;
    const { held, leased, isUntold, takeUp } = await inHandOf(store, op);
    if (isUntold) continue;
    if (clock.now() - history.latest >= EDITED_MS || (held && !leased)) continue;
    const shared = wanted.sharedWith(targetsIn(history));
    if (shared === 0) continue;
    const of = plan.rows.length;
    const these = of === 1 ? 'this row is' : `${shared} of these ${of} rows ${shared === 1 ? 'is' : 'are'}`;
    const message = `${these} the same but for the amount in a run that is not finished, ${standingOf(history)}: ${op}${takeUp.whose}`;
    if (plan.again !== true)
      throw editedRows(op, message, secondTime(sharedRowsOf(plan.rows, targetsIn(history), targetOf), of));
    notice(`warning: ${message}`);
  }
}

function targetOf(row: Parameters<typeof rowBeforeChoice>[0]): string {
  const { operation, input, asked } = row;
  const { amount: _, ...target } = input;
  return rowBeforeChoice({ operation, input: target, asked });
}

function targetsIn({ rows }: History): ReadonlyMap<string, number> {
  const taken = [...rows.values()].filter(({ resolved }) => resolved?.as !== 'not-done');
  return countedDigests(taken.map(({ item }) => targetOf(item)));
}

function editedRows(op: string, message: string, again: string): CliError {
  return new CliError('guarded', {
    message,
    notes: [
      `If this is its file with other amounts: what it has done is done. cardwright ops show ${op} -o csv tells which rows; a resume sends the rest with the amounts of before.`,
      `If these amounts are meant on top of it: ${sameCommandWith('--again')}. ${again}`,
    ],
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}
