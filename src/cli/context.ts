/** What a command may ask for. Costly or failing things are functions; nothing here names a stream or a format. */

import type { AuditLog } from '../audit/log.ts';
import type { Input, ReadName, Result, WriteName } from '../contract/calls.ts';
import type { ResultOf } from '../contract/operation.ts';
import type { Overrides } from '../contract/overrides.ts';
import type { AdminOperations, SandboxAdmin } from '../contract/sandbox/admin-calls.ts';
import type { PlannedRequest, Reader, ReadOptions } from '../contract/service.ts';
import type { Identity } from '../core/identity.ts';
import type { Secret } from '../core/secret.ts';
import type { CleanupLog } from '../events/cleanup-log.ts';
import type { Journal } from '../journal/types.ts';
import type { Mirror } from '../mirror/mirror.ts';
import type { Clock, Environment, InputStream, Randomness } from '../platform/host.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Prompts } from '../terminal/prompts.ts';
import type { Recorder } from '../writes/audit-record.ts';
import type { Pipeline } from '../writes/pipeline.ts';
import type { ChangeQuestion } from '../writes/question.ts';
import type { WriteOptions, WriteResult } from '../writes/single-write.ts';
import type { PlannedFile } from './completion/completion-places.ts';
import type { CompletionShell } from './completion/completion-stubs.ts';
import type { Finding } from './finding.ts';
import type { RevealOptions, RunWithCard } from './reveal-options.ts';
import type { SandboxServers } from './sandbox-servers.ts';
import type { Approvals, JournalAdmin } from './shared-journal.ts';
import type { Shown } from './shown.ts';

/** Profiles as commands see them: never a key, only its hint. */
export interface ProfileRow {
  readonly name: string;
  readonly current: boolean;
  readonly mode: 'sandbox' | 'test' | 'live';
  readonly base_url: string;
  readonly key: string;
  readonly key_source: string;
  readonly contract: string | null;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A setting before and after it is changed, as text; `none` where it is not set. */
export interface SettingChange {
  readonly before: string;
  readonly after: string;
  /** It is a limit, or one of what limits are held against. */
  readonly isLimit: boolean;
  /** It allows more than before. */
  readonly loosens: boolean;
}

/** A key, or where it is told. */
export type KeyInput =
  | { readonly key: Secret; readonly keychain: boolean }
  | { readonly key_file: string }
  | { readonly key_command: readonly string[] };

export interface Profiles {
  list(): Promise<readonly ProfileRow[]>;
  get(name: string): Promise<ProfileRow>;
  use(name: string): Promise<ProfileRow>;
  /** What `set` would do. Throws as it; nothing is changed. */
  foresee(name: string, setting: string, value: string): Promise<SettingChange>;
  set(name: string, setting: string, value: string): Promise<ProfileRow>;
  /** Resolves to where its key still is, and why when it was ours to take away. */
  remove(name: string): Promise<{ readonly place: string; readonly why?: string } | undefined>;
  /** Saves a key under a name, or where it comes from; it becomes the current profile. Paths may be relative. */
  login(name: string, baseUrl: string, key: KeyInput): Promise<ProfileRow>;
  /** Name of the current profile. */
  current(): Promise<string | undefined>;
}

/** Both throw `usage` and `guarded` for files that cannot be told or must not be changed; then nothing was. */
export interface CompletionFiles {
  plan(shell: CompletionShell, wish: 'install' | 'uninstall'): Promise<readonly PlannedFile[]>;
  carryOut(shell: CompletionShell, wish: 'install' | 'uninstall'): Promise<readonly PlannedFile[]>;
}

/** Input of a run of rows, read once. */
export interface InputRows extends AsyncDisposable {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** False when the file was written to since it was opened. */
  unchanged(): Promise<boolean>;
}

/** What came of putting a snapshot back. */
export type Restored = ResultOf<AdminOperations['snapshots.restore']>;

/** A sandbox that is not the one of this machine. */
export interface SandboxElsewhere {
  /** Scheme, host and port. */
  readonly origin: string;
  /** What names it: a variable, or a profile. */
  readonly namedBy: string;
}

/** Deliveries of the embedded sandbox, which nobody else sends. */
export interface SandboxDeliveries {
  /** Sends what becomes due until the signal. Rejects when the store broke. */
  run(signal: AbortSignal): Promise<void>;
  /** Sends what is due now, once each, or as much of it as goes before the signal. */
  settle(signal: AbortSignal): Promise<void>;
}

/** A browser that was asked to open an address. */
export interface StartedBrowser {
  readonly started: boolean;
  /** Takes away the file that led to the address. */
  remove(): Promise<void>;
}

/** A file that tells a script that waits for it that we are there. */
export interface ReadyFile {
  write(address: string): Promise<void>;
  remove(address: string): Promise<void>;
}

/** What a run is told of its command. */
export interface CommandTraits {
  /** It could be answered by the mirror, and was not asked to be. */
  readonly couldBeOffline?: boolean | undefined;
  /** It only looks, or freezes cards: it does not wait long for a shared journal. */
  readonly isUrgent?: boolean | undefined;
}

export interface Context {
  /** Version of this program. */
  readonly version: string;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly env: Environment;
  readonly stdin: InputStream;
  readonly prompts: Prompts;
  readonly dryRun: boolean;
  /** `--yes`. */
  readonly yes: boolean;
  /** A person looks at standard output, and no machine format was asked for. */
  readonly forPeople: boolean;
  /** `--csv-raw`: cells of CSV as they are, without the guard against formulas. */
  readonly csvRaw: boolean;
  /** `--sort` was given: an order of one page alone would say nothing about the others. */
  readonly sorted: boolean;
  /** Both ends of a conversation are terminals and questions are allowed. */
  readonly canAsk: boolean;
  /** Fired by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** `--timeout`, in ms: the bound on one request. */
  readonly requestTimeoutMs: number | undefined;

  /** The clock of the service, ms UTC, by its newest answer; this machine's while none told the time. */
  serviceNow(): number;
  /** The same, with a reading request where no answer came yet: `--since 1d` is a day of the service. */
  askServiceTime(): Promise<number>;
  /**
   * Hides texts in the log of a CI job, before they are printed or handed on: `::add-mask::` lines on standard error
   * under GitHub Actions, nothing elsewhere.
   */
  maskInLog(texts: readonly string[]): void;

  identity(): Promise<Identity>;
  /** Limits of this run that the managed file and the profile set, and which of them sets each. Throws `guarded` for an unsafe file. */
  limits(): Promise<readonly { readonly name: string; readonly value: string; readonly source: string }[]>;
  /** Reading operations. */
  reader(): Promise<Reader>;
  /** Reads one thing; short for `reader()` and `read`. */
  read<N extends ReadName>(operation: N, input: Input<N>, options?: ReadOptions): Promise<Result<N>>;
  /** One change, through the pipeline. Throws `DryRun` in a dry run. */
  write<N extends WriteName, Before = undefined>(
    operation: N,
    input: Input<N>,
    options: WriteOptions<Before>,
  ): Promise<WriteResult<N, Before>>;
  /** Asks once for several targets of an irreversible operation. Throws `not_confirmed`. */
  confirmCount(operation: WriteName, ids: readonly string[]): Promise<void>;
  /** Every change goes through here: what is asked, held, recorded and sent, in its one order. */
  readonly pipeline: Pipeline;
  /** The question before a change, for the pipeline. Throws `not_confirmed`. */
  ask(question: ChangeQuestion): Promise<void>;
  /** How far a run is, on standard error. */
  readonly progress: Progress;
  /** Tells the audit log what is about to happen, and what became of it. */
  readonly recorder: Recorder;
  /** Words after `--`, for a command that runs another program. */
  readonly rest: readonly string[];
  /** Writes and reveals of this machine; opened lazily. */
  audit(): Promise<AuditLog>;
  /** The local copy of the account; opened lazily, nothing is sent before it is asked. */
  mirror(): Promise<Mirror>;
  /** Looks at key, network, files and contract; changes nothing. */
  diagnose(): Promise<readonly Finding[]>;
  /** Money operations and bulk runs of this machine; opened lazily, nothing is read before it is asked. */
  journal(): Promise<Journal>;
  /** Operations that wait for persons, and the key of this user. */
  approvals(): Promise<Approvals>;
  /** Making, checking and accepting a journal. */
  journalAdmin(): Promise<JournalAdmin>;
  /** Card details behind the gate. */
  reveal(cardId: string, options: RevealOptions): Promise<Shown>;
  /** Card details into the environment of one program and nowhere else. Resolves to its exit code. */
  runWithCard(cardId: string, options: RunWithCard): Promise<number>;
  /** Throws what `runWithCard` would refuse without a question; for a card that is yet to be made. */
  checkRunWithCard(options: Omit<RunWithCard, 'mask'>): Promise<void>;
  /**
   * Signals go to `onSignal` in place of stopping this run, until the returned function is called: for a command that
   * must clean up with requests of its own.
   */
  takeSignals(onSignal: (signal: NodeJS.Signals) => void): () => void;
  /** Runs one program with our streams and these variables, for the account of this run. Resolves to its exit code. */
  runProgram(program: readonly string[], variables: Readonly<Record<string, string>>): Promise<number>;
  /** Has the browser of this user open an address, by way of a private file. */
  openBrowser(address: string): Promise<StartedBrowser>;
  /** Undefined when the service is not the embedded sandbox. */
  sandboxDeliveries(): Promise<SandboxDeliveries | undefined>;
  /** What must be taken away again, kept for whoever comes after a crash. */
  cleanupLog(): Promise<CleanupLog>;
  /** Takes away what an earlier run left there. Throws `usage` for something else. */
  readyFile(path: string): Promise<ReadyFile>;
  /** The sandbox elsewhere that the environment or the profile names; undefined for the one of this machine. */
  sandboxElsewhere(): Promise<SandboxElsewhere | undefined>;
  /** The sandbox's control surface: that of the sandbox elsewhere, else the embedded one. */
  sandbox(): Promise<SandboxAdmin>;
  /** The sandbox as a server for other programs. */
  readonly servers: SandboxServers;
  /** Everything the sandbox holds into a file of the user: 0600, whole or not at all. Resolves to its size in bytes. */
  exportSandbox(path: string): Promise<number>;
  /** Such a file in place of everything the sandbox holds. Throws `usage` when it cannot be read. */
  importSandbox(path: string): Promise<Restored>;
  /** How many webhook subscriptions such a file says that it holds; 0 for what is no regular file, or no export. */
  subscriptionsIn(path: string): Promise<number>;
  /** Moves the sandbox's store aside, unread. Resolves to the new file names. */
  moveSandboxAside(): Promise<readonly string[]>;
  profiles(): Promise<Profiles>;
  /** The files a shell finds its completions by. */
  completionFiles(): Promise<CompletionFiles>;
  overrides(): Promise<Overrides>;
  /** Text of a file the user named. Throws `usage` naming it. */
  readFile(path: string): Promise<string>;
  /** Text of a file the user named; undefined where there is none. Throws `guarded` for one that could not be changed. */
  textOf(path: string): Promise<string | undefined>;
  /**
   * Puts another text in its place; mode and owner stay. Throws `guarded` where it is no longer `before`: then nothing was
   * changed.
   */
  changeText(path: string, before: string | undefined, next: string): Promise<void>;
  /** Bytes of a file the user named, or of standard input for `-`; for rows. Throws `usage` naming it. */
  openInput(path: string): Promise<InputRows>;
  /** Bytes as they are of a file the user named, or of standard input for `-`. Throws `usage` naming it. */
  readBytes(path: string): Promise<Uint8Array>;
  /** Makes a new file of mode 0600 for `--out`. Throws `usage` naming it when it is there or cannot be made. */
  createFile(path: string, content: string): Promise<void>;
  /**
   * Puts a 0600 file of that name in a folder, which is made where it is missing; whole or not at all. Resolves to its
   * path as the user would write it. Throws `guarded` where a file stands there that does not begin with `mark`.
   */
  replaceFile(
    place: readonly [folder: string, name: string],
    file: { readonly pieces: Iterable<string>; readonly mark: string },
  ): Promise<string>;
  /** A line for people on standard error. */
  notice(text: string): void;
  /** Name given with `--profile`, for commands that save or remove one. */
  readonly profileName: string | undefined;
  /** What a dry run would have sent. */
  readonly planned: readonly PlannedRequest[];
  /** Single operations of the journal that this run has carried out. */
  readonly ops: readonly string[];
}
