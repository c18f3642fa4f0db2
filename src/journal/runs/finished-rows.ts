/** Rows that a run of many which was finished a short time ago has done. */
import { DAY } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { readOrError } from '../store/read-ops.ts';
import type { PlannedRow } from '../types.ts';
import type { EndRecord } from '../wal/records.ts';
import type { History, RowHistory } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { isNamed } from './named-rows.ts';
import { createLikeness } from './row-likeness.ts';
import { mayBeOf } from './same-account.ts';
import { secondTime } from './second-time.ts';
import type { Sharing } from './shared-rows.ts';

/** Within this time after its end a run of many rows is told of. */
const TOLD_MS = DAY;

/** Ops of many rows that were over when a command asked its rules. */
export type FinishedBefore = ReadonlySet<string>;

/**
 * Rows of a run of many that are the same as in one that was finished less than 24 hours ago. The input as a whole is
 * another one, most often a file that was corrected: its done rows would be done twice. Throws `guarded`; with `again` it
 * is said. Resolves to the runs that it has seen.
 */
export async function refuseFinishedRows(dependencies: JournalDependencies, sharing: Sharing): Promise<FinishedBefore> {
  const { plan, record } = sharing;
  const seen = new Set<string>();
  for await (const { op, end, history, digest } of finishedRuns(dependencies, sharing, { seen })) {
    // Whoever runs the whole of it again has said so.
    if (digest === record.digest || digest === plan.digestInOrder) continue;
    const shared = sharedWith(plan, await history());
    if (shared.length === 0) continue;
    const of = plan.rows.length;
    const message = doneIn(op, { shared: shared.length, of, at: end.at });
    if (plan.again !== true) {
      throw finishedRows(op, { message, again: secondTime(shared, of), left: of - shared.length });
    }
    dependencies.notice(`warning: ${message}`);
  }
  return seen;
}

/**
 * The same for runs that were finished since `before`, with `again` too: nobody was told of them. Asked when everybody can see
 * the plan, after those that are not finished.
 */
export async function refuseFinishedMeanwhile(
  dependencies: JournalDependencies,
  sharing: Sharing,
  before: FinishedBefore,
): Promise<void> {
  const { plan } = sharing;
  const since = dependencies.clock.now() - 2 * TOLD_MS;
  for await (const { op, end, history } of finishedRuns(dependencies, sharing, { before, since })) {
    const shared = sharedWith(plan, await history());
    const of = plan.rows.length;
    if (shared.length === 0) continue;
    const message = doneIn(op, { shared: shared.length, of, at: end.at });
    throw finishedRows(op, { message, again: secondTime(shared, of), left: of - shared.length });
  }
}

interface FinishedRun {
  readonly op: string;
  readonly end: EndRecord;
  readonly digest: string;
  history(): Promise<History | undefined>;
}

interface Among {
  /** Filled with those that are finished. */
  readonly seen?: Set<string>;
  readonly before?: FinishedBefore;
  /** Written at this time or later, ms UTC. */
  readonly since?: number;
}

/** Those of the last 24 hours. None for a plan without rows that must not be done twice. */
async function* finishedRuns(
  { store, clock }: JournalDependencies,
  { plan, record }: Sharing,
  { seen, before, since }: Among,
): AsyncIterable<FinishedRun> {
  // What a card is brought to is moved at most once, whatever was moved before.
  if (!plan.bulk || [...firstOf(plan.rows)].some(({ aim }) => aim !== undefined)) return;
  if (!createLikeness(plan.rows).any()) return;
  const isOfAccount = mayBeOf(store, record);
  for await (const head of store.heads({ writtenSince: since })) {
    const { op } = head;
    if (before?.has(op) === true) continue;
    const other = await head.plan();
    if (other === undefined || !other.bulk || !(await isOfAccount(other))) continue;
    const end = await head.end();
    if (end === undefined) continue;
    seen?.add(op);
    if (clock.now() - end.at >= TOLD_MS) continue;
    const history = async () => {
      const read = await readOrError(store, op);
      return read instanceof CliError ? undefined : read;
    };
    yield { op, end, digest: other.digest, history };
  }
}

/** Rows of the plan that are done there. */
function sharedWith({ rows: planned }: Sharing['plan'], history: History | undefined): readonly PlannedRow[] {
  const named = isNamed(planned);
  // Rows that are named otherwise than ours are other purchases; one without a name may be the same.
  const mayBeOurs = ({ item }: RowHistory) => !named || item.intent === undefined;
  const rows = [...(history?.rows.values() ?? [])].filter(row => row.state === 'done' && mayBeOurs(row));
  return createLikeness(planned).sharedWith(rows.map(({ item }) => item));
}

function doneIn(op: string, { shared, of, at }: { shared: number; of: number; at: number }): string {
  const some =
    shared === of ? `all of these ${of} rows are` : `${shared} of these ${of} rows ${shared === 1 ? 'is' : 'are'}`;
  return `${of === 1 ? 'this row is' : some} done in ${op}, finished ${new Date(at).toISOString()}`;
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
