/** `intent` of `cardwright/client`: one change of a program through the journal of a folder. Loaded when one is sent. */
import process from 'node:process';
import type { Input, WriteName } from '../contract/calls.ts';
import type { Service } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import { intentFault } from '../core/intent-name.ts';
import { keyPrint } from '../core/key-print.ts';
import type { Secret } from '../core/secret.ts';
import { readerOf } from '../journal/execution/run-context.ts';
import { capabilitiesIn } from '../journal/idempotency-support.ts';
import { createJournal } from '../journal/runs/journal.ts';
import { localStore } from '../journal/store/local-store.ts';
import type { Journal } from '../journal/types.ts';
import { createDisk } from '../journal/wal/storage.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import { executeOnly, planOfOne, resultBefore } from '../writes/journaled-write.ts';
import { isJournaled } from '../writes/single-write.ts';

export interface LibraryJournal {
  /** State folder of `cardwright`: `ops list` of a command line with the same one shows what is kept there. */
  readonly folder: string;
  readonly service: Service;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly baseUrl: string;
  readonly mode: 'test' | 'live';
  readonly key: Secret;
  /** ms. */
  readonly timeoutMs: number | undefined;
  readonly onWarning: ((text: string) => void) | undefined;
}

export interface NamedCall {
  readonly operation: WriteName;
  /** Money in cents. */
  readonly input: Input<WriteName>;
  readonly intent: string;
  readonly key: string | undefined;
  readonly signal: AbortSignal | undefined;
}

const WRITE_TOTAL_MS = 75_000;

/** Carries the change out, or tells what an earlier call with the same name has done. Throws as `executeOnly`. */
export async function sendNamed(around: LibraryJournal, call: NamedCall): Promise<unknown> {
  const { operation, intent } = call;
  const fault = intentFault(intent);
  if (fault !== undefined) throw new CliError('usage', { message: `intent ${fault}`, outcome: 'not_sent' });
  if (!isJournaled(operation)) {
    const message = `an intent is for operations that move money, and ${operation} does not`;
    throw new CliError('usage', { message, outcome: 'not_sent', operation });
  }
  const wanted = { ...call, input: call.input as Readonly<Record<string, unknown>>, marker: true, intentName: intent };
  const plan = planOfOne(wanted);
  const journal = journalOf(around, call.signal);
  const reader = readerOf(around.service);
  const earlier = (await journal.earlierUses(plan)).get(1);
  if (earlier?.settled !== undefined) {
    return (await resultBefore(wanted, { ...earlier, settled: earlier.settled }, reader)).result;
  }
  await using run = await (earlier === undefined ? journal.begin(plan) : journal.resume(earlier.op));
  return (await executeOnly(run, wanted, reader)).result;
}

function journalOf(around: LibraryJournal, signal = new AbortController().signal): Journal {
  const { folder, service, clock, random, baseUrl, mode, key, timeoutMs, onWarning = () => undefined } = around;
  const { pid, platform } = process;
  const files = { platform, random, warn: onWarning };
  return createJournal({
    store: localStore({
      stateFolder: folder,
      disk: createDisk({ ...files, lock: { pid, clock, random } }),
      random,
      pid,
      keyPrint: async salt => keyPrint(key, salt),
    }),
    clock,
    random,
    pid,
    begunAt: clock.now(),
    service: async () => service,
    acting: async () => ({ profile: 'client', mode, origin: baseUrl }),
    capabilities: capabilitiesIn(folder, files),
    writeTotalMs: timeoutMs ?? WRITE_TOTAL_MS,
    stop: signal,
    cut: signal,
    hold: () => () => undefined,
    notice: onWarning,
  });
}
