/** Earlier runs of a fleet that were stopped: what they had not sent is planned anew, and is no longer theirs to send. */
import { CliError } from '../../core/errors.ts';
import { readOrError } from '../store/read-ops.ts';
import type { PlanRecord } from '../wal/records.ts';
import { mayBePerformed } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { resolveRows } from './resolve.ts';
import { mayBeOf } from './same-account.ts';

/** Closes the rows of earlier runs that are open. Rows of unknown outcome stay: a resume settles them. */
export async function closeSuperseded(dependencies: JournalDependencies, record: PlanRecord): Promise<void> {
  const { op, marker_prefix: prefix } = record;
  if (prefix === undefined) return;
  const { store } = dependencies;
  const isOfAccount = mayBeOf(store, record);
  for await (const head of store.heads({ unfinished: true })) {
    const plan = await head.plan();
    if (head.op === op || plan?.marker_prefix !== prefix || !(await isOfAccount(plan))) continue;
    const history = await readOrError(store, head.op);
    if (history === undefined || history instanceof CliError || !history.planned || history.end !== undefined) continue;
    const rows = [...history.rows.values()].filter(row => mayBePerformed(row, true)).map(({ item }) => item.row);
    if (rows.length === 0 || (await store.isHeld(head.op))) continue;
    await resolveRows(dependencies, { op: head.op, rows, as: 'not-done', note: `planned anew in ${op}` });
  }
}
