/** What a process is told that was stopped past its lease: who has its op now. */
import { CliError } from '../core/errors.ts';
import { isoSeconds } from '../core/iso-time.ts';
import { decodeWhole } from '../journal/wal/codec.ts';
import type { JournalRecord } from '../journal/wal/records.ts';
import type { OpHead } from './calls.ts';
import { type SharedOps, segmentRefused } from './shared-ops.ts';

interface OwnHands {
  readonly op: string;
  readonly epoch: number;
  /** Number of the last segment that this process has read or written. */
  readonly n: number;
}

/** The same error with name, machine and time of the new holder; as it was where the op is not in other hands. */
export async function inOtherHands(shared: SharedOps, { op, epoch, n }: OwnHands, thrown: unknown): Promise<unknown> {
  if (!(thrown instanceof CliError) || !segmentRefused(thrown)) return thrown;
  const { statements, account } = shared;
  try {
    const [head] = await statements().heads(account, { op });
    if (head === undefined || head.epoch === epoch) return thrown;
    const segments = await statements().readOp(account, op, n + 1);
    const records = decodeWhole(Buffer.concat(segments.map(({ bytes }) => bytes)));
    // By the clock of that machine; it may not have begun to write yet.
    const run = records.findLast(record => record.t === 'RUN');
    const when = run === undefined ? '' : ` at ${isoSeconds(run.at)}`;
    return thrown.with({
      message: `${op} was taken over by ${head.holder} on ${head.host}${when}, while this process gave no sign of life; it sends nothing more${endOf(head, records)}`,
      hint: `cardwright ops show ${op}`,
      op,
    });
  } catch {
    return thrown;
  }
}

/** The new holder may have ended it before this process could say anything of its rows. */
function endOf({ holder, rows }: Pick<OpHead, 'holder' | 'rows'>, records: readonly JournalRecord[]): string {
  const end = records.findLast(record => record.t === 'END');
  return end === undefined ? '' : `. ${holder} has finished it since: ${end.done} of ${rows} done`;
}
