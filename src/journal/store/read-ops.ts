/** What the bytes of ops say, wherever they are kept. Nothing here changes anything. */
import { CliError } from '../../core/errors.ts';
import { decodeLines, decodeWhole } from '../wal/codec.ts';
import { isOp } from '../wal/op-id.ts';
import type { ItemRecord } from '../wal/records.ts';
import { type History, historyOf } from '../wal/replay.ts';
import type { OpStore } from './op-store.ts';

type Reading = Pick<OpStore, 'read'>;

/** The history of an op; undefined when there is none or its process died before the plan was written. */
export async function readHistory(store: Reading, op: string): Promise<History | undefined> {
  const bytes = await store.read(op);
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

/** Throws `usage` for a name that is no op, or one that is not here. */
export async function historyNamed(store: Reading, op: string): Promise<History> {
  const history = isOp(op) ? await readHistory(store, op) : undefined;
  if (history !== undefined) return history;
  throw new CliError('usage', {
    message: `there is no operation ${JSON.stringify(op)} on this machine`,
    hint: 'cardwright ops list',
    outcome: 'not_sent',
  });
}
