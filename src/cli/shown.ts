/** What a command hands over to be shown. */
import type { CliError } from '../core/errors.ts';
import type { Column, Presentation } from '../terminal/view.ts';

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
