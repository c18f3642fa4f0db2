/**
 * An idempotency key of the caller's own is one intent. Whoever begins with it claims it first, under a lock that no other
 * process takes while its holder lives; then the note beside it says which op the key was used for.
 */
import { REFUSALS, refusalNamed } from '../../contract/refusals.ts';
import { CliError } from '../../core/errors.ts';
import type { Run, RunPlan } from '../types.ts';
import { readHistory } from '../wal/read.ts';
import type { RowHistory } from '../wal/replay.ts';
import { beginOp } from './begin.ts';
import type { JournalDependencies } from './dependencies.ts';
import { type PreparedOp, planOp, prepareOp } from './planned.ts';

/** What a key was used for, as far as this machine knows. */
type Earlier =
  | { readonly kind: 'new' }
  /** The service keeps a refusal under it: it would be repeated for ever. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'begun'; readonly op: string };

/**
 * Begins a plan under a key of the caller's, or takes its op up again. Throws `guarded` while another command uses the key,
 * `usage` when it was used for another request.
 */
export async function beginWithKey(
  dependencies: JournalDependencies,
  { prepared, key, resume }: { prepared: PreparedOp; key: string; resume: (op: string) => Promise<Run> },
): Promise<Run> {
  const { disk, places } = dependencies;
  const { plan } = prepared;
  const { origin } = await dependencies.acting();
  await disk.prepareFolder(places.root);
  await disk.prepareFolder(places.givenKeys);
  const path = places.givenKey(origin, key);
  const unclaim = await disk.hold(`${path}.lock`).catch((thrown: unknown) => {
    throw thrown instanceof CliError ? inUse(key, thrown) : thrown;
  });
  try {
    const earlier = await earlierUse(dependencies, { path, plan, key });
    const run =
      earlier.kind === 'begun'
        ? await resume(earlier.op)
        : await beginOp(dependencies, await planOp(dependencies, await withUsableKey(dependencies, prepared, earlier)));
    return claiming(run, unclaim);
  } catch (thrown) {
    await unclaim();
    throw thrown;
  }
}

/** After a refusal that is kept under the key the requests are made anew, under a key of the op. */
async function withUsableKey(
  dependencies: JournalDependencies,
  prepared: PreparedOp,
  { kind }: Earlier,
): Promise<PreparedOp> {
  return kind === 'refused' ? prepareOp(dependencies, prepared.plan, { keyIsSpent: true }) : prepared;
}

/** The claim ends with the run. */
function claiming(run: Run, unclaim: () => Promise<void>): Run {
  return {
    ...run,
    async [Symbol.asyncDispose]() {
      try {
        await run[Symbol.asyncDispose]();
      } finally {
        await unclaim();
      }
    },
  };
}

async function earlierUse(
  { disk, places }: JournalDependencies,
  { path, plan, key }: { path: string; plan: RunPlan; key: string },
): Promise<Earlier> {
  const op = await disk.read(path);
  const history = op === undefined ? undefined : await readHistory(disk, places, op);
  if (op === undefined || history === undefined) return { kind: 'new' };
  const { digest } = history.plan;
  if (digest !== plan.digest && digest !== plan.digestInOrder) throw keyTaken(key, op);
  const [row] = history.rows.values();
  // What was never sent, or was declared not done, has left nothing under the key.
  if (row === undefined || !history.planned || row.state === 'not_sent') return { kind: 'new' };
  if (row.state !== 'refused') return { kind: 'begun', op };
  return { kind: isKept(row) ? 'refused' : 'new' };
}

/** Whether the service keeps the refusal under the key; a definite no, so that another key may follow. */
function isKept({ failed }: RowHistory): boolean {
  const refusal = refusalNamed(failed?.service?.error);
  return refusal !== undefined && 'storedForKey' in REFUSALS[refusal];
}

function inUse(key: string, cause: CliError): CliError {
  return new CliError('guarded', {
    message: `the idempotency key ${JSON.stringify(key)} is being used by another command right now`,
    notes: [cause.message, 'When that command has ended, the same one says what became of it.'],
    hint: 'cardwright ops list',
    outcome: 'not_sent',
    idempotencyKey: key,
    cause,
  });
}

function keyTaken(key: string, op: string): CliError {
  return new CliError('usage', {
    message: `the idempotency key ${JSON.stringify(key)} was used before with other values; nothing was sent`,
    notes: ['The same key means the same request. Another request needs another key.'],
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    idempotencyKey: key,
    op,
  });
}
