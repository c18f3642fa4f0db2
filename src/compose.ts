/**
 * Puts the rooms together. Takes everything from the host, so tests run it whole; what a command's context needs is
 * loaded when the first command asks for it.
 */
import type { Machine } from './cli/run.ts';
import { REGISTRY } from './commands/registry.ts';
import type { Host } from './host.ts';
import type { EmbeddedSandbox } from './sandbox/embedded.ts';
import type { KeySource } from './terminal/reveal-screen.ts';

/** What of the real process the rooms need beyond `Host`. */
export interface Surroundings extends Host {
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
  /** Has `restore` called when a signal or a crash ends the process; returns how to take it back. */
  onCrash(restore: () => void): () => void;
}

/** The program, ready to run once. */
export function compose(host: Surroundings, version: string): Machine & { readonly host: Surroundings } {
  const redactions: ((text: string) => string)[] = [];
  return {
    host,
    version,
    registry: REGISTRY,
    redact: text => redactions.reduce((clean, redact) => redact(clean), text),
    async openContext(globals) {
      const { openContext } = await import('./open-context.ts');
      return openContext({ host, version, globals, redactions });
    },
  };
}
