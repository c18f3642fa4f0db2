/** What of the real process the rooms need, given by argument: tests hand in their own. */
import type { Scrypt } from '../approvals/keys.ts';
import type { ManagedFile } from '../limits/managed-file.ts';
import type { Host, Randomness } from '../platform/host.ts';
import type { Keychain } from '../profile/keychain.ts';
import type { EmbeddedSandbox } from '../sandbox/serving/embedded.ts';
import type { KeySource } from '../terminal/reveal-screen.ts';

/** What of the real process the rooms need beyond `Host`. */
export interface AppHost extends Host {
  /** The real standard input and standard error, for the prompt library. */
  readonly promptInput: NodeJS.ReadableStream;
  readonly promptOutput: NodeJS.WritableStream;
  /** Text of a file; throws `usage` naming it. */
  readFile(path: string): Promise<string>;
  /** Opens the embedded sandbox of this user. */
  openSandbox(): Promise<EmbeddedSandbox>;
  /** True while a process of this number runs. */
  isRunning(pid: number): boolean;
  /** Single key presses, until closed. */
  openKeys(): KeySource & { close(): void };
  /** Writes to the terminal at once; usable while the process dies. */
  writeTerminal(text: string): void;
  /** For names of locks and of files beside; apart from `random`, so that ids do not depend on how often we lock. */
  readonly noise: Randomness;
  /** Of a passphrase, for what stands on disk: slow on purpose. */
  readonly scrypt: Scrypt;
  /** Name the operating system has for whoever runs this, and that of the machine; for the audit log. */
  readonly user: string;
  readonly machine: string;
  /** Arguments of the runtime itself (`--inspect`). */
  readonly execArgv: readonly string[];
  /** A debugger is attached or may attach. */
  inspected(): boolean;
  /** Absolute path of the runtime. */
  readonly node: string | undefined;
  /** This process serves for long and makes much garbage: from now on its memory stays small. */
  keepSmall(): void;
  /** The same before work that leaves no turn of the event loop for it. */
  keepSmallAtOnce(): Promise<void>;
  /** The words that start this program once more. */
  readonly program: readonly [string, ...string[]];
  readonly nodeVersion: string;
  /** Where the compiled code of this program is kept, or why it is not; undefined for a program that was not built. */
  readonly codeCache: string | undefined;
  /** Folders that programs of the system are looked for in, never the working folder (E18). */
  readonly programFolders: readonly string[];
  /** While a child has the terminal, signals go to `onSignal` alone and do not stop this process; returns the end of it. */
  handOver(onSignal: (signal: NodeJS.Signals) => void): () => void;
  /** Aborted by a second signal: what is on the wire is cut off, and its outcome written down as unknown. */
  readonly cut: AbortSignal;
  /** Until it is let go, a second signal aborts `cut` and does not end the process. */
  holdCut(): () => void;
  keychain(): Promise<Keychain>;
  /** Limits that the administrator of this machine sets. */
  readonly limitsFile: ManagedFile;
  /** Has `restore` called when a signal or a crash ends the process; returns how to take it back. */
  onCrash(restore: () => void): () => void;
}
