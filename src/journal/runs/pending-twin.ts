/** The same change in an operation that waits for other persons: asked for a second time, it could be approved and sent twice. */
import { CliError } from '../../core/errors.ts';
import { requestIdOf } from '../approvals/request-id.ts';
import type { History } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { isNamed } from './named-rows.ts';

/** What is asked for now, beside what is held. */
interface Asked {
  /** What of it is held, before `is held until …`; the whole when left out. */
  readonly which?: string;
  /** Each row has a name; undefined where it is the name that both have. */
  readonly named: boolean | undefined;
}

/** The refusal of what an op that is held has too; its request is the way on. */
export async function pendingTwin(
  { approvals }: Pick<JournalDependencies, 'approvals'>,
  history: History,
  { which = 'the same operation is', named }: Asked,
): Promise<CliError> {
  const { op } = history.plan;
  const isApproved = await approvals?.isApproved(history).catch((thrown: unknown) => {
    // Why nobody can tell, the resume says.
    if (thrown instanceof CliError) return false;
    throw thrown;
  });
  const resume = `cardwright ops resume ${op}`;
  const request = requestIdOf(op);
  const apart = named === undefined ? [] : [tellingApart(history, named)];
  return new CliError('pending_approval', {
    message: isApproved
      ? `${which} approved, and was not sent yet: ${op}`
      : `${which} held until other persons have approved it: ${op}`,
    notes: isApproved
      ? ['Its resume sends it once.', ...apart]
      : [
          `When it is approved, its resume sends it once: ${resume}`,
          `Where it is not wanted now: cardwright approvals reject ${request} --reason "why"`,
          ...apart,
        ],
    hint: isApproved ? resume : `cardwright approvals show ${request}`,
    outcome: 'not_sent',
    op,
  });
}

/** How another purchase is told from it. */
function tellingApart({ rows }: History, named: boolean): string {
  const isTheirs = isNamed([...rows.values()].map(({ item }) => item));
  if (!isTheirs)
    return 'It has no intent, so that nobody can tell another purchase from it: two purchases need one each.';
  return named
    ? 'Another purchase has other intents than those.'
    : 'Another purchase needs an --intent of its own, and in a file one a row.';
}
