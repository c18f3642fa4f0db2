/** `intent` of `cardwright/client`: one change of a program through a journal. Loaded when one is sent. */
import type { Input, WriteName } from '../contract/calls.ts';
import { isJournaled } from '../contract/journaled.ts';
import type { Service } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import { intentFault } from '../core/intent-name.ts';
import { accountPrint, keyPrint } from '../core/key-print.ts';
import type { Secret } from '../core/secret.ts';
import { readerOf } from '../journal/execution/run-context.ts';
import { capabilitiesIn } from '../journal/idempotency-support.ts';
import { createJournal } from '../journal/runs/journal.ts';
import { localStore } from '../journal/store/local-store.ts';
import type { OpStore } from '../journal/store/op-store.ts';
import type { Journal } from '../journal/types.ts';
import { createDisk } from '../journal/wal/storage.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import { executeOnly, planOfOne, resultBefore } from '../writes/journaled-write.ts';

/** The process of the program, as far as a journal needs it. */
export interface OwnProcess {
  readonly clock: Clock;
  readonly random: Randomness;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
}

export interface NamedCalls extends OwnProcess {
  readonly service: Service;
  readonly baseUrl: string;
  readonly mode: 'test' | 'live';
  readonly key: Secret;
  /** Longest life of one write, ms. */
  readonly writeTotalMs: number;
  readonly notice: (text: string) => void;
}

export interface NamedCall {
  readonly operation: WriteName;
  /** Money in cents. */
  readonly input: Input<WriteName>;
  readonly intent: string;
  readonly key: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Where the ops of a call are kept. */
interface Kept {
  /** State folder of `cardwright`: what is known of the service's idempotency keys lies there. */
  readonly stateFolder: string;
  readonly store: OpStore;
}

/**
 * Carries the change out, or tells what an earlier call with the same name has done. Throws as `executeOnly`, and `usage`
 * before anything is opened.
 */
export async function sendNamed(around: NamedCalls, call: NamedCall, kept: Kept): Promise<unknown> {
  const { intent } = call;
  const wanted = { ...call, input: call.input as Readonly<Record<string, unknown>>, marker: true, intentName: intent };
  const plan = planOfOne(wanted);
  const journal = journalOf(around, kept, call.signal);
  const reader = readerOf(around.service);
  const earlier = (await journal.earlierUses(plan)).get(1);
  if (earlier?.settled !== undefined) {
    const { result } = await resultBefore(wanted, { ...earlier, settled: earlier.settled }, reader);
    const objected = await journal.shown([earlier]);
    if (objected !== undefined) throw objected;
    return result;
  }
  await using run = await (earlier === undefined ? journal.begin(plan) : journal.resume(earlier.op));
  return (await executeOnly(run, wanted, reader)).result;
}

/** Throws `usage` for a name or an operation that no journal keeps. */
export function refuseUnkept({ operation, intent }: Pick<NamedCall, 'operation' | 'intent'>): void {
  const fault = intentFault(intent);
  if (fault !== undefined) throw new CliError('usage', { message: `intent ${fault}`, outcome: 'not_sent' });
  if (!isJournaled(operation)) {
    const message = `an intent is for operations that move money, and ${operation} does not`;
    throw new CliError('usage', { message, outcome: 'not_sent', operation });
  }
}

/** The files of a folder of this machine: `ops list` of a command line with the same state folder shows them. */
export function folderStore(around: NamedCalls, stateFolder: string): OpStore {
  const { clock, random, platform, pid, key, notice } = around;
  return localStore({
    stateFolder,
    disk: createDisk({ platform, random, warn: notice, lock: { pid, clock, random } }),
    random,
    pid,
    keyPrint: async salt => keyPrint(key, salt),
    accountPrint: async account => accountPrint(key, account),
  });
}

function journalOf(around: NamedCalls, { stateFolder, store }: Kept, signal = new AbortController().signal): Journal {
  const { service, clock, random, platform, pid, baseUrl, mode, writeTotalMs, notice } = around;
  return createJournal({
    store,
    clock,
    random,
    pid,
    begunAt: clock.now(),
    service: async () => service,
    acting: async () => ({ profile: 'client', mode, origin: baseUrl }),
    capabilities: capabilitiesIn(stateFolder, { platform, random, warn: notice }),
    writeTotalMs,
    stop: signal,
    cut: signal,
    hold: () => () => undefined,
    notice,
  });
}
