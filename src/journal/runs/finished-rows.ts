/** Rows that a run of many which was finished a short time ago has done. */
import { DAY } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { readOrError } from '../store/read-ops.ts';
import type { RowHistory } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { isNamed } from './named-rows.ts';
import { createLikeness } from './row-likeness.ts';
import { secondTime } from './second-time.ts';
import type { Sharing } from './shared-rows.ts';

/** Within this time after its end a run of many rows is told of. */
const TOLD_MS = DAY;

/**
 * Rows of a run of many that are the same as in one that was finished less than 24 hours ago. The input as a whole is
 * another one, most often a file that was corrected: its done rows would be done twice. Throws `guarded`; with `again` it
 * is said.
 */
export async function refuseFinishedRows(dependencies: JournalDependencies, { plan, record }: Sharing): Promise<void> {
  const { store, clock, notice } = dependencies;
  // What a card is brought to is moved at most once, whatever was moved before.
  if (!plan.bulk || [...firstOf(plan.rows)].some(({ aim }) => aim !== undefined)) return;
  const wanted = createLikeness(plan.rows);
  if (!wanted.any()) return;
  const named = isNamed(plan.rows);
  for await (const head of store.heads()) {
    const { op } = head;
    const other = await head.plan();
    if (other === undefined || other.origin !== record.origin || !other.bulk) continue;
    // Whoever runs the whole of it again has said so.
    if (other.digest === record.digest || other.digest === plan.digestInOrder) continue;
    const end = await head.end();
    if (end === undefined || clock.now() - end.at >= TOLD_MS) continue;
    const history = await readOrError(store, op);
    if (history === undefined || history instanceof CliError) continue;
    // Rows that are named otherwise than ours are other purchases; one without a name may be the same.
    const mayBeOurs = ({ item }: RowHistory) => !named || item.intent === undefined;
    const rows = [...history.rows.values()].filter(row => row.state === 'done' && mayBeOurs(row));
    const sharing = wanted.sharedWith(rows.map(({ item }) => item));
    const shared = sharing.length;
    if (shared === 0) continue;
    const of = plan.rows.length;
    const some =
      shared === of ? `all of these ${of} rows are` : `${shared} of these ${of} rows ${shared === 1 ? 'is' : 'are'}`;
    const these = of === 1 ? 'this row is' : some;
    const message = `${these} done in ${op}, finished ${new Date(end.at).toISOString()}`;
    if (plan.again !== true) {
      const again = secondTime(sharing, of);
      throw finishedRows(op, { message, again, left: of - shared });
    }
    notice(`warning: ${message}`);
  }
}

function* firstOf<T>(rows: Iterable<T>): Iterable<T> {
  for (const row of rows) {
    yield row;
    return;
  }
}

interface FinishedRows {
  readonly message: string;
  /** What `--again` does. */
  readonly again: string;
  /** Rows of the plan that are not done there. */
  readonly left: number;
}

function finishedRows(op: string, { message, again, left }: FinishedRows): CliError {
  const rest =
    left === 0
      ? [`Nothing is left to run. ${again}`]
      : [
          `Run the other ${left === 1 ? 'row in a file of its own' : `${left} rows in a file of their own`}. ${again}`,
          `The rows that are done, in the order of their file: cardwright ops show ${op} -o csv`,
        ];
  return new CliError('guarded', {
    message,
    notes: rest,
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}
