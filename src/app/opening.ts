/** What a run begins with. */
import type { CommandTraits } from '../cli/context.ts';
import type { Globals } from '../cli/parsing/globals.ts';
import type { AppHost } from './app-host.ts';

export interface Opening extends CommandTraits {
  readonly host: AppHost;
  readonly version: string;
  readonly globals: Globals;
  readonly redactions: ((text: string) => string)[];
  readonly keys: Set<string>;
  /** Filled with what makes room on a terminal for the answer. */
  readonly beforeOutput: Set<() => void>;
  /** Words after `--`. */
  readonly rest: readonly string[];
}
