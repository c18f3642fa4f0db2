/** What a dry run says of a plan that other persons would have to approve. */
import type { PreparedRun } from '../journal/types.ts';

export async function tellPending(notice: (text: string) => void, { held }: Pick<PreparedRun, 'held'>): Promise<void> {
  const why = await held();
  if (why !== undefined) notice(`This would be held for approval (exit code 17): ${why}.`);
}
