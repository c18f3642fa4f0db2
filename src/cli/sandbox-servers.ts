/** A sandbox that serves other programs, as commands see it. */
import type { DataSet } from '../contract/sandbox-admin.ts';
import type { DialectName } from '../contract/sandbox-faults.ts';

export interface ServerWishes {
  readonly port?: number | undefined;
  readonly dialect?: DialectName | undefined;
  readonly seed?: number | undefined;
  readonly data?: DataSet | undefined;
  readonly virtualLimits: boolean;
  readonly allowRemoteWebhooks: boolean;
  /** As the user wrote it. */
  readonly readyFile?: string | undefined;
}

/** A server that is there. No secret in it: the key stands in the file. */
export interface ServerRow {
  /** Base address of the service, for `CARDWRIGHT_BASE_URL`. */
  readonly url: string;
  readonly pid: number;
  readonly started_at: string;
  readonly store: string;
  readonly api_key_file: string;
}

export interface StartedServer {
  readonly row: ServerRow;
  /** Serves until it is stopped or a signal comes; rejects with `check_failed` when the store broke. */
  serve(): Promise<void>;
}

export interface SandboxServers {
  /**
   * Serves the store of the data folder from this process. Throws `guarded` when a sandbox is started on it already,
   * `unreachable` for a taken port, `check_failed` for a store that is not whole, `usage` for another seed or data set.
   */
  start(wishes: ServerWishes): Promise<StartedServer>;
  /** The same from a process of its own, which goes on when this one ends. Resolves when it answers. */
  detach(wishes: ServerWishes): Promise<ServerRow & { readonly log: string }>;
  /** The one that is started on the store of the data folder and has proved to be it. */
  running(): Promise<ServerRow | undefined>;
  /** Ends it; resolves when its port is free. Throws `unreachable` when there is none, `wait_expired`. */
  stop(): Promise<ServerRow>;
}
