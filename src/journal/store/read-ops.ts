/** What the bytes of ops say, wherever they are kept. Nothing here changes anything. */
import { CliError } from '../../core/errors.ts';
import { decodeLines, decodeWhole } from '../wal/codec.ts';
import { isOp } from '../wal/op-id.ts';
import { type ItemRecord, JOURNAL_VERSION } from '../wal/records.ts';
import { type History, historyOf } from '../wal/replay.ts';
import type { OpStore } from './op-store.ts';

export type Reading = Pick<OpStore, 'read' | 'leastLength'>;

/**
 * The history of an op; undefined when there is none or its process died before the plan was written. Throws
 * `check_failed` for a journal that is damaged, shorter than it was, or of a newer version.
 */
export async function readHistory(store: Reading, op: string): Promise<History | undefined> {
  // First: what is written meanwhile makes the journal longer.
  const least = await store.leastLength?.(op);
  const bytes = await store.read(op);
  const length = bytes?.length ?? 0;
  // An op that is taken back meanwhile, or pruned, loses its mark first.
  if (least !== undefined && length < least && (await store.leastLength?.(op)) !== undefined)
    throw shortened(op, length, least);
  return bytes === undefined ? undefined : historyOf(decodeLines(bytes, op).written);
}

/** As `readHistory`; a damaged journal comes back as the error it is. */
export async function readOrError(store: Reading, op: string): Promise<History | CliError | undefined> {
  try {
    return await readHistory(store, op);
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.kind === 'check_failed') return thrown;
    throw thrown;
  }
}

/** Every item of a damaged journal that can still be read. */
export async function readItems(store: Reading, op: string): Promise<readonly ItemRecord[]> {
  const bytes = await store.read(op);
  return bytes === undefined ? [] : decodeWhole(bytes).filter(record => record.t === 'ITEM');
}

/** Whether a newer version of cardwright has written it. */
export async function isNewer(store: Reading, op: string): Promise<boolean> {
  const [first] = decodeWhole((await store.read(op)) ?? new Uint8Array());
  return first?.t === 'PLAN' && first.version > JOURNAL_VERSION;
}

/** Throws `usage` for a name that is no op, or one that is not here; `check_failed` as `readHistory`. */
export async function historyNamed(store: Reading, op: string): Promise<History> {
  const history = isOp(op) ? await readHistory(store, op) : undefined;
  if (history !== undefined) return history;
  throw new CliError('usage', {
    message: `there is no operation ${JSON.stringify(op)} on this machine`,
    hint: 'cardwright ops list',
    outcome: 'not_sent',
  });
}

function shortened(op: string, length: number, least: number): CliError {
  const what = length === 0 ? 'is empty or gone' : `has ${length} bytes, and had ${least} when it was written last`;
  return new CliError('check_failed', {
    message: `the journal of ${op} ${what}; nothing was sent`,
    notes: ['What it has sent is not known. Look at the service itself before doing any of its rows again.'],
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}
