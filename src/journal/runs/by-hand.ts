/** A change that is asked for again, and that somebody else has recorded as not done: it goes on, and who asks reads that. */
import { CliError } from '../../core/errors.ts';
import { recordedNotes } from '../execution/by-hand.ts';
import { readOrError } from '../store/read-ops.ts';
import type { History } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { mayBeOf } from './same-account.ts';
import type { Sharing } from './shared-rows.ts';

/** Of operations of the same input that this operator, who began them, has not seen the end of. */
export async function tellRecorded(dependencies: JournalDependencies, { plan, record }: Sharing): Promise<void> {
  const { store } = dependencies;
  if (store.handsOf === undefined) return;
  const isOfAccount = mayBeOf(store, record);
  for await (const head of store.heads({ unfinished: true })) {
    const other = await head.plan();
    if (other === undefined || (other.digest !== record.digest && other.digest !== plan.digestInOrder)) continue;
    if (!(await isOfAccount(other)) || (await store.handsOf(head.op))?.isUntold !== true) continue;
    const history = await readOrError(store, head.op);
    if (history !== undefined && !(history instanceof CliError)) noticeRecorded(dependencies, history);
  }
}

/** What others have recorded of its rows. */
export function noticeRecorded(
  { notice }: Pick<JournalDependencies, 'notice'>,
  { plan, rows }: Pick<History, 'plan' | 'rows'>,
): void {
  for (const line of recordedNotes(rows.values())) notice(`note: ${plan.op}: ${line}`);
}
