/** A sandbox that serves other programs, as commands see it. */
import type { DataSet, LoadSize } from '../contract/sandbox/admin.ts';
import type { SandboxAdmin } from '../contract/sandbox/admin-calls.ts';
import type { DialectName } from '../contract/sandbox/faults.ts';
import type { ChildEnd } from './child.ts';

export interface ServerOptions {
  readonly port?: number | undefined;
  readonly ipv6?: boolean | undefined;
  readonly dialect?: DialectName | undefined;
  readonly seed?: number | undefined;
  readonly data?: DataSet | undefined;
  /** Of the data set `load`. */
  readonly size?: LoadSize | undefined;
  readonly rateLimits: boolean;
  readonly virtualLimits: boolean;
  readonly allowRemoteWebhooks: boolean;
  /** As the user wrote it. */
  readonly readyFile?: string | undefined;
}

/** Of a server of many accounts. */
export interface AccountsServerOptions
  extends Pick<ServerOptions, 'port' | 'rateLimits' | 'virtualLimits' | 'allowRemoteWebhooks'> {
  /** Their folder, as the user wrote it. */
  readonly accounts: string;
  /** For a proxy in front: the address it finds the server at, and the host that clients name. */
  readonly behind?: { readonly bind: string; readonly host: string } | undefined;
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
  /** Holds the store, and whatever the program keeps of ours. */
  readonly folder: string;
  readonly admin: SandboxAdmin;
  /** Runs the program with the sandbox in its environment, and nothing else of ours; resolves to how it ended. */
  run(program: readonly string[]): Promise<ChildEnd>;
  /** Sends deliveries that are due, for at most so many milliseconds. */
  drain(ms: number): Promise<void>;
  /** Writes what it holds into a file; resolves to its bytes. Throws `usage` for a file that is no export. */
  exportTo(path: string): Promise<number>;
  /** Frees the port and closes the store; removes the folder unless it is kept. May be called more than once. */
  close(options: { readonly keep: boolean }): Promise<void>;
}

export interface PrivateSandboxOptions
  extends Pick<ServerOptions, 'dialect' | 'seed' | 'data' | 'size' | 'rateLimits'> {
  /** Nobody takes its folder away, even when the process that made it was killed. */
  readonly keepsFolder: boolean;
}

export interface SandboxServers {
  /**
   * Serves the store of the data folder from this process. Throws `guarded` when a sandbox is started on it already,
   * `unreachable` for a taken port, `check_failed` for a store that is not whole, `usage` for another seed or data set.
   */
  start(options: ServerOptions): Promise<StartedServer>;
  /** Serves a folder of accounts from this process. Throws `guarded` when another server has it, `unreachable`. */
  startAccounts(options: AccountsServerOptions): Promise<StartedServer>;
  /** The same from a process of its own, which goes on when this one ends. Resolves when it answers. */
  detach(options: ServerOptions): Promise<ServerRow & { readonly log: string }>;
  /** The one that is started on the store of the data folder and has proved to be it. */
  running(): Promise<ServerRow | undefined>;
  /**
   * The control surface of the one that is started on the store of the data folder, which alone sends what is due
   * there; undefined when none is, or when a sandbox elsewhere is steered.
   */
  control(): Promise<SandboxAdmin | undefined>;
  /** Whether a copy could be written there. Throws `guarded` when it is no export, `usage` when it cannot be made. */
  checkExport(path: string): Promise<void>;
  /** A sandbox with a store of its own in a temporary folder. Throws `unreachable` when it cannot be started. */
  openPrivate(options: PrivateSandboxOptions): Promise<PrivateSandbox>;
  /** Ends it; resolves when its port is free. Throws `unreachable` when there is none, `wait_expired`. */
  stop(): Promise<ServerRow>;
}
