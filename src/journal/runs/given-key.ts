/**
 * An idempotency key of the caller's own is one intent. Whoever begins with it takes it in hand first, as no other process
 * can while its holder lives; then the store says which op the key was used for.
 */
import { REFUSALS, refusalNamed } from '../../contract/refusals.ts';
import { CliError } from '../../core/errors.ts';
import type { KeyHold } from '../store/op-store.ts';
import { readHistory } from '../store/read-ops.ts';
import type { Run, RunPlan } from '../types.ts';
import type { History, RowHistory } from '../wal/replay.ts';
import { beginOp } from './begin.ts';
import type { JournalDependencies } from './dependencies.ts';
import { type PreparedOp, planOp, prepareOp } from './planned.ts';
import { closeSuperseded } from './superseded.ts';

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
  const { plan } = prepared;
  const { origin, mode } = await dependencies.acting();
  const held = await dependencies.store.holdKey({ origin, mode, key });
  try {
    const earlier = await earlierUse(dependencies, { held, plan, key });
    if (earlier.kind === 'begun') return holding(await resume(earlier.op), held);
    const planned = await planOp(dependencies, await withUsableKey(dependencies, prepared, earlier));
    const run = await beginOp(dependencies, planned);
    await closeSuperseded(dependencies, planned.record);
    return holding(run, held);
  } catch (thrown) {
    await held.release();
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

/** The key is held as long as the run. */
function holding(run: Run, held: KeyHold): Run {
  return {
    ...run,
    async [Symbol.asyncDispose]() {
      try {
        await run[Symbol.asyncDispose]();
      } finally {
        await held.release();
      }
    },
  };
}

async function earlierUse(
  { store }: JournalDependencies,
  { held, plan, key }: { held: KeyHold; plan: RunPlan; key: string },
): Promise<Earlier> {
  const op = await held.usedFor();
  const history = op === undefined ? undefined : await readHistory(store, op);
  if (op === undefined || history === undefined) return { kind: 'new' };
  if (plan.bulk) return earlierRun(op, history);
  const { digest } = history.plan;
  if (digest !== plan.digest && digest !== plan.digestInOrder) throw keyTaken(key, op, 'other values');
  const [row] = history.rows.values();
  // What was never sent, or was declared not done, has left nothing under the key.
  if (row === undefined || !history.planned || row.state === 'not_sent') return { kind: 'new' };
  if (row.state !== 'refused') {
    // Taken up, it would leave a new name free for a second one.
    const [wanted] = plan.rows;
    if (wanted?.intent !== undefined && wanted.intent !== row.item.intent) throw keyTaken(key, op, 'another intent');
    return { kind: 'begun', op };
  }
  return { kind: isKept(row) ? 'refused' : 'new' };
}

/** A run of many under a name is begun once: one that is not over is taken up. Throws `guarded` for one that is. */
function earlierRun(op: string, { end, planned }: History): Earlier {
  if (!planned) return { kind: 'new' };
  if (end === undefined) return { kind: 'begun', op };
  throw new CliError('guarded', {
    reason: 'plan_used',
    message: `this plan was applied before, at ${new Date(end.at).toISOString()}: ${op}`,
    notes: ['What is still to be done is in a new plan.'],
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}

/** Whether the service keeps the refusal under the key; a definite no, so that another key may follow. */
function isKept({ failed }: RowHistory): boolean {
  const refusal = refusalNamed(failed?.service?.error);
  return refusal !== undefined && 'storedForKey' in REFUSALS[refusal];
}

function keyTaken(key: string, op: string, other: string): CliError {
  return new CliError('usage', {
    message: `the idempotency key ${JSON.stringify(key)} was used before with ${other}; nothing was sent`,
    notes: ['The same key means the same request. Another request needs another key.'],
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    idempotencyKey: key,
    op,
  });
}
