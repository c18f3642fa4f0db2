/** What a run begins with. */
import type { Globals } from '../cli/parsing/globals.ts';
import type { AppHost } from './app-host.ts';

export interface Opening {
  readonly host: AppHost;
  readonly version: string;
  readonly globals: Globals;
  readonly redactions: ((text: string) => string)[];
  readonly keys: Set<string>;
  /** Filled with what makes room on a terminal for the answer. */
  readonly beforeOutput: Set<() => void>;
  /** Words after `--`. */
  readonly rest: readonly string[];
  /** The command could be answered by the mirror, and was not asked to be. */
  readonly couldBeOffline?: boolean | undefined;
}
