/** What a command may ask for. Costly or failing things are functions; nothing here names a stream or a format. */
import type { Approver } from '../approvals/request.ts';
import type { AuditLog } from '../audit/log.ts';
import type { Input, ReadName, Result, WriteName } from '../contract/calls.ts';
import type { ResultOf } from '../contract/operation.ts';
import type { Overrides } from '../contract/overrides.ts';
import type { AccountsServerOptions, AdminOperations, SandboxAdmin, ServerOptions } from '../contract/sandbox/admin.ts';
import type { PlannedRequest, Reader, ReadOptions } from '../contract/service.ts';
import type { CliError } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import type { Secret } from '../core/secret.ts';
import type { Journal } from '../journal/journal.ts';
import type { OpDetail } from '../journal/types.ts';
import type { Mirror } from '../mirror/mirror.ts';
import type { Clock, Environment, InputStream, Randomness } from '../platform/host.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Prompts } from '../terminal/prompts.ts';
import type { Column, Presentation } from '../terminal/view.ts';
import type { Recorder } from '../writes/audit-record.ts';
import type { ChangeQuestion } from '../writes/guard.ts';
import type { Pipeline } from '../writes/pipeline.ts';
import type { WriteOptions, WriteResult } from '../writes/single-write.ts';
import type { Finding, JournalCheck, JournalState, OwnKey, ProfileRow } from './answer-shapes.ts';
import type { ChildEnd } from './child.ts';

/** A key, or where it is told. */
export type KeyInput =
  | { readonly key: Secret; readonly keychain: boolean }
  | { readonly key_file: string }
  | { readonly key_command: readonly string[] };

export interface Profiles {
  list(): Promise<readonly ProfileRow[]>;
  get(name: string): Promise<ProfileRow>;
  use(name: string): Promise<ProfileRow>;
  /** What `set` would do, as text, `none` where it is not set; whether it is of the limits, and allows more. Throws as `set`. */
  foresee(
    name: string,
    setting: string,
    value: string,
  ): Promise<Readonly<Record<'before' | 'after', string>> & Readonly<Record<'isLimit' | 'loosens', boolean>>>;
  set(name: string, setting: string, value: string): Promise<ProfileRow>;
  /** Resolves to where its key still is, and why when it was ours to take away. */
  remove(name: string): Promise<{ readonly place: string; readonly why?: string } | undefined>;
  /** Saves a key under a name, or where it comes from; it becomes the current profile. Paths may be relative. */
  login(name: string, baseUrl: string, key: KeyInput): Promise<ProfileRow>;
  /** Name of the current profile. */
  current(): Promise<string | undefined>;
}

/** What becomes of a file of the user; undefined is no file. Its path may be relative. */
export interface FileEdit {
  readonly path: string;
  edit(before: Buffer | undefined): Buffer | undefined;
}

export interface PlannedFile {
  readonly path: string;
  readonly action: 'create' | 'change' | 'remove' | 'none';
}

/** Input of a run of rows, read once. */
export interface InputRows extends AsyncDisposable {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** False when the file was written to since it was opened. */
  unchanged(): Promise<boolean>;
}

/** What came of putting a snapshot back. */
export type Restored = ResultOf<AdminOperations['snapshots.restore']>;

/** Deliveries of the embedded sandbox, which nobody else sends. */
interface SandboxDeliveries {
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

/** The account at the service: whose it is, its reads and its changes. */
export interface ContextApi {
  identity(): Promise<Identity>;
  overrides(): Promise<Overrides>;
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
  /** The clock of the service, ms UTC, by its newest answer; this machine's while none told the time. */
  serviceNow(): number;
  /** Time of the service; a reading request asks for it where no answer came yet: `--since 1d` is a day of the service. */
  askServiceTime(): Promise<number>;
  /** The local copy of the account; opened lazily, nothing is sent before it is asked. */
  mirror(): Promise<Mirror>;
}

/** What is meant, sent and recorded on this machine, or in a journal that several share. */
export interface ContextJournal {
  /** Money operations and bulk runs of this machine; opened lazily, nothing is read before it is asked. */
  open(): Promise<Journal>;
  /** Operations that wait for persons, and the key of this user. */
  approvals(): Promise<Approvals>;
  /** Making, checking and accepting a journal. */
  admin(): Promise<JournalAdmin>;
  /** Writes and reveals of this machine; opened lazily. */
  audit(): Promise<AuditLog>;
  /** Every change goes through here: what is asked, held, recorded and sent, in its one order. */
  readonly pipeline: Pipeline;
  /** Tells the audit log what is about to happen, and what became of it. */
  readonly recorder: Recorder;
  /** Single operations of the journal that this run has carried out. */
  readonly ops: readonly string[];
  /** What a dry run would have sent. */
  readonly planned: readonly PlannedRequest[];
}

/** The sandbox: its control surface, servers, deliveries and state. */
export interface ContextSandbox {
  /** The sandbox's control surface: that of the sandbox elsewhere, else the embedded one. */
  admin(): Promise<SandboxAdmin>;
  /** Origin of the sandbox elsewhere, and the variable or profile that names it; undefined for the one of this machine. */
  elsewhere(): Promise<Readonly<Record<'origin' | 'namedBy', string>> | undefined>;
  /** The sandbox as a server for other programs. */
  servers(): Promise<SandboxServers>;
  /** Undefined when the service is not the embedded sandbox. */
  deliveries(): Promise<SandboxDeliveries | undefined>;
  /** Everything the sandbox holds into a file of the user: 0600, whole or not at all. Resolves to its size in bytes. */
  exportTo(path: string): Promise<number>;
  /** Such a file in place of everything the sandbox holds. Throws `usage` when it cannot be read. */
  importFrom(path: string): Promise<Restored>;
  /** How many webhook subscriptions such a file says that it holds; 0 for what is no regular file, or no export. */
  subscriptionsIn(path: string): Promise<number>;
  /** Moves the sandbox's store aside, unread. Resolves to the new file names. */
  moveAside(): Promise<readonly string[]>;
}

/** What is asked of a person, and what is told beside the answer. */
export interface ContextUi {
  readonly prompts: Prompts;
  /** How far a run is, on standard error. */
  readonly progress: Progress;
  /** A line for people on standard error. */
  notice(text: string): void;
  /**
   * Hides texts in the log of a CI job, before they are printed or handed on: `::add-mask::` lines on standard error
   * under GitHub Actions, nothing elsewhere.
   */
  maskInLog(texts: readonly string[]): void;
  /** The question before a change, for the pipeline. Throws `not_confirmed`. */
  ask(question: ChangeQuestion): Promise<void>;
  /** Asks once for several targets of an irreversible operation. Throws `not_confirmed`. */
  confirmCount(operation: WriteName, ids: readonly string[]): Promise<void>;
  /** Both ends of a conversation are terminals and questions are allowed. */
  readonly canAsk: boolean;
  /** A person looks at standard output, and no machine format was asked for. */
  readonly forPeople: boolean;
  /** `--yes`. */
  readonly yes: boolean;
}

/** Files that the user named, and standard input. */
export interface ContextFiles {
  readonly stdin: InputStream;
  /** Text of a file the user named, or of standard input for `-`. Throws `usage` naming it. */
  readFile(path: string): Promise<string>;
  /** Bytes of a file the user named, or of standard input for `-`; for rows. Throws `usage` naming it. */
  openInput(path: string): Promise<InputRows>;
  /** Bytes as they are of a file the user named, or of standard input for `-`. Throws `usage` naming it. */
  readBytes(path: string): Promise<Uint8Array>;
  /** Makes a new file of mode 0600 for `--out`. Throws `usage` naming it when it is there or cannot be made. */
  createFile(path: string, content: string): Promise<void>;
  /**
   * Puts a 0600 file there, whole or not at all; folders are made where they are missing. Throws `guarded` where a file stands
   * there that does not begin with `mark`.
   */
  replaceFile(path: string, file: { readonly pieces: Iterable<string>; readonly mark: string }): Promise<void>;
  /**
   * What edits would make of files of this user, all looked at before any is changed; with `isMeant` it is done, and folders of ours
   * that are empty then go. Throws `guarded`
   * for a file that must not be changed, and what an edit throws; then nothing was.
   */
  editFiles(edits: readonly FileEdit[], isMeant: boolean): Promise<readonly PlannedFile[]>;
  /** A file that tells a script that we are there. Takes away what an earlier run left there. Throws `usage` for something else. */
  readyFile(path: string): Promise<Readonly<Record<'write' | 'remove', (address: string) => Promise<void>>>>;
}

export interface Context {
  readonly api: ContextApi;
  readonly journal: ContextJournal;
  readonly sandbox: ContextSandbox;
  readonly ui: ContextUi;
  readonly files: ContextFiles;
  /** Version of this program. */
  readonly version: string;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly dryRun: boolean;
  /** `--csv-raw`: cells of CSV as they are, without the guard against formulas. */
  readonly csvRaw: boolean;
  /** `--sort` was given: an order of one page alone would say nothing about the others. */
  readonly sorted: boolean;
  /** Fired by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** Words after `--`, for a command that runs another program. */
  readonly rest: readonly string[];
  /** Looks at key, network, files and contract; changes nothing. */
  diagnose(): Promise<readonly Finding[]>;
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
  /** The name of this process, for what a run makes at the service, and whether that of another one is provably of one that is gone. */
  processes(): Promise<{ readonly own: string; isGone(name: string): boolean }>;
  /** Runs one program with our streams and these variables, for the account of this run. Resolves to its exit code. */
  runProgram(program: readonly string[], variables: Readonly<Record<string, string>>): Promise<number>;
  /** Standard input and output as those of a server of tools, and the way to run commands in it. */
  toolHost(): Promise<ToolHost>;
  /** Has the browser of this user open an address, by way of a private file. */
  openBrowser(address: string): Promise<StartedBrowser>;
  profiles(): Promise<Profiles>;
  /** Name given with `--profile`, for commands that save or remove one. */
  readonly profileName: string | undefined;
}

/**
 * Runs one command line of this program in this process, for the service that this run has chosen, with nobody to ask. Resolves to
 * its exit code, and to what it wrote; never rejects.
 */
export type CommandRunner = (
  words: readonly string[],
  more?: { readonly stdin?: string | undefined },
) => Promise<{ readonly code: number; readonly out: string; readonly err: string }>;

/** What a server of tools needs of the process it is. */
export interface ToolHost {
  /** Standard input as it comes. */
  readonly input: AsyncIterable<string | Uint8Array>;
  write(text: string): Promise<void>;
  readonly run: CommandRunner;
}

/** What a command's result looks like. `data`, the JSON, is the result itself unless said otherwise. */
export interface Shown extends Partial<Omit<Presentation, 'columns' | 'noun'>> {
  readonly columns: readonly Column[];
  readonly noun: string;
  /** Text that is the answer as it stands, whatever the format: a script, a document. */
  readonly verbatim?: string;
  /** A page to read in place of the table, on a screen and in a pipe. A named format gets the data. */
  readonly prose?: string;
  /** Reported after the answer; for a command that did some of what was asked. A function where rows come later. */
  readonly failure?: CliError | (() => CliError | undefined) | undefined;
  /** Exit code of a program that ran in our place, or of a view that a signal ended; a function where it comes later. */
  readonly exit?: number | (() => number);
  /** This run of a command that can change something changed nothing. */
  readonly changedNothing?: true;
  /** What goes on once the answer was given: a server serves. The run ends with it, and with its error. */
  readonly goesOn?: () => Promise<void>;
}

export interface RevealOptions {
  readonly reveal: boolean | undefined;
  readonly print: boolean | undefined;
  readonly out: string | undefined;
  readonly copy: CardPart | undefined;
  readonly field: CardPart | undefined;
}

export type CardPart = 'number' | 'cvv' | 'expiry';

export interface RunWithCard {
  readonly program: readonly string[];
  readonly reveal: boolean;
  /** Number and CVV are hidden in the log of the CI job first. */
  readonly mask: boolean;
}

/** An op that waits for persons. */
export interface HeldRequest {
  readonly op: string;
  readonly command: string;
  readonly changes: number;
  /** Cents. */
  readonly total: number;
  readonly needed: number;
  /** Who has approved it. */
  readonly persons: readonly string[];
  /** Every fact that is signed: name and words. */
  readonly facts: readonly (readonly [name: string, words: string])[];
  /** The first changes, as requests. */
  readonly requests: readonly string[];
}

export interface Approvals {
  /** Throws `usage` for an op that waits for nobody, `check_failed` where the journal was changed by something else. */
  review(op: string): Promise<HeldRequest>;
  /** Signs what was reviewed. `passphrase` is asked when there is a key. Throws `guarded` where it would not count. */
  approve(op: string, passphrase: () => Promise<Secret>): Promise<HeldRequest>;
  reject(op: string, reason: string): Promise<OpDetail>;
  createKey(passphrase: Secret, place: 'file' | 'keychain'): Promise<OwnKey>;
  /** Throws `usage` where there is none. */
  ownKey(): Promise<OwnKey>;
  approvers(): Promise<readonly Approver[]>;
}

export interface InitWishes {
  /** List the API key of this run. */
  readonly key: boolean;
  /** `max_per_day=500.00`; `none` as a value takes a rule away. */
  readonly limits: readonly string[];
  /** `person ed25519 key`. */
  readonly approvers: readonly string[];
}

export interface JournalAdmin {
  /** Resolves to what was done, a sentence each. */
  init(address: string, wishes: InitWishes): Promise<readonly string[]>;
  status(): Promise<JournalState>;
  check(): Promise<JournalCheck>;
  /** Goes on with the journal as it is. `agree` is asked with what a person must know before. Resolves to what was done. */
  accept(how: {
    readonly setAside: boolean;
    /** `limits` are names of those that the journal itself sets. */
    readonly agree: (
      found: Pick<JournalCheck, 'flaws' | 'strangers'> & { readonly limits: readonly string[] },
    ) => Promise<void>;
  }): Promise<readonly string[]>;
  leave(role: string): Promise<readonly string[]>;
  /** After the built-in sandbox was replaced: operations with its cards leave the journal of this machine. Nothing for a sandbox elsewhere. */
  setAsideSandbox(): Promise<void>;
}

/** A server that is there. No secret in it: the key stands in the file. */
export interface ServerRow {
  /** Base address of the service, for `CARDWRIGHT_BASE_URL`. */
  readonly url: string;
  readonly pid: number;
  readonly started_at: string;
  readonly store: string;
  /** Undefined for a server of many accounts: each has a key of its own. */
  readonly api_key_file?: string;
}

export interface StartedServer {
  readonly row: ServerRow;
  /** Serves until it is stopped or a signal comes; rejects with `check_failed` when the store broke. */
  serve(): Promise<void>;
}

/** A sandbox that is there for one program. */
export interface PrivateSandbox {
  readonly admin: SandboxAdmin;
  /** Runs the program with the sandbox in its environment, and nothing else of ours; resolves to how it ended. */
  run(program: readonly string[]): Promise<ChildEnd>;
  /** Sends deliveries that are due, for at most so many milliseconds. */
  drain(ms: number): Promise<void>;
  /** Frees the port, closes the store and removes its folder. May be called more than once. */
  close(): Promise<void>;
}

export type PrivateSandboxOptions = Pick<ServerOptions, 'dialect' | 'seed' | 'data' | 'size' | 'rateLimits'>;

export interface SandboxServers {
  /**
   * Serves the store of the data folder from this process. Throws `guarded` when a sandbox is started on it already,
   * `unreachable` for a taken port, `check_failed` for a store that is not whole, `usage` for another seed or data set.
   */
  start(options: ServerOptions): Promise<StartedServer>;
  /** Serves a folder of accounts from this process. Throws `guarded` when another server has it, `unreachable`. */
  startAccounts(options: AccountsServerOptions): Promise<StartedServer>;
  /** Starts the server in a process of its own, which goes on when this one ends. Resolves when it answers. */
  detach(options: ServerOptions): Promise<ServerRow & { readonly log: string }>;
  /** The one that is started on the store of the data folder and has proved to be it. */
  running(): Promise<ServerRow | undefined>;
  /**
   * The control surface of the one that is started on the store of the data folder, which alone sends what is due
   * there; undefined when none is, or when a sandbox elsewhere is steered.
   */
  control(): Promise<SandboxAdmin | undefined>;
  /** A sandbox with a store of its own in a temporary folder. Throws `unreachable` when it cannot be started. */
  openPrivate(options: PrivateSandboxOptions): Promise<PrivateSandbox>;
  /** Ends it; resolves when its port is free. Throws `unreachable` when there is none, `wait_expired`. */
  stop(): Promise<ServerRow>;
}
