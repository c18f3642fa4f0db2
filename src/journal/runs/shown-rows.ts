/** Rows of earlier operations that a command has shown as done: who began such an op has seen what came of it. */
import { CliError } from '../../core/errors.ts';
import { readOrError } from '../store/read-ops.ts';
import type { EarlierUse, Run } from '../types.ts';
import type { JournalDependencies } from './dependencies.ts';
import { takeUpOf } from './take-up.ts';

type Resume = (op: string) => Promise<Run>;

/** See `Journal.shown`. */
export async function endShown(
  dependencies: JournalDependencies,
  uses: Iterable<EarlierUse>,
  resume: Resume,
): Promise<CliError | undefined> {
  const rows = rowsByOp(uses);
  if (rows.size === 0) return undefined;
  const unfinished: string[] = [];
  for await (const { op } of dependencies.store.heads({ unfinished: true })) if (rows.has(op)) unfinished.push(op);
  let failure: CliError | undefined;
  for (const op of unfinished) {
    if (await isWhole(dependencies, op, rows.get(op) ?? 0)) failure ??= await ended(op, resume);
  }
  return failure;
}

/** How many different rows of each op there are that are done. */
function rowsByOp(uses: Iterable<EarlierUse>): ReadonlyMap<string, number> {
  const rows = new Map<string, number>();
  for (const { op, settled } of uses) if (settled?.outcome === 'done') rows.set(op, (rows.get(op) ?? 0) + 1);
  return rows;
}

/** All rows of it were shown, and nobody else has it. */
async function isWhole({ store }: JournalDependencies, op: string, shown: number): Promise<boolean> {
  if ((await takeUpOf(store, op)).isTakeover || (await store.isHeld(op))) return false;
  const history = await readOrError(store, op);
  return history !== undefined && !(history instanceof CliError) && history.planned && history.rows.size === shown;
}

/** A resume of it sends nothing. It is verified where its process ended before that, and let go when the answer was written. */
async function ended(op: string, resume: Resume): Promise<CliError | undefined> {
  try {
    await using run = await resume(op);
    const { objections, doubted } = await run.finish();
    const [unknown] = doubted;
    if (unknown?.error !== undefined) return unknown.error;
    return objections.length === 0 ? undefined : objected(op, objections);
  } catch (thrown) {
    // Somebody has taken it up in this moment, or nobody may now: it is still to be shown.
    if (thrown instanceof CliError) return undefined;
    throw thrown;
  }
}

function objected(op: string, objections: readonly string[]): CliError {
  return new CliError('check_failed', {
    message: `the verification of ${op}, whose rows are shown, objected`,
    notes: objections,
    evidence: { objections },
    hint: `cardwright ops show ${op}`,
    outcome: 'done',
    op,
  });
}
