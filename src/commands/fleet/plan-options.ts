/** What `fleet plan` is asked for, and what it hands over to be shown. */
import type { CliError } from '../../core/errors.ts';

export const EXIT_CODES = ['any', 'drift'] as const;
export type ExitCode = (typeof EXIT_CODES)[number];

export interface PlanFlags {
  readonly file?: string | undefined;
  readonly out?: string | undefined;
  readonly md?: boolean | undefined;
  readonly noAmounts?: boolean | undefined;
  readonly exitCode?: ExitCode | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly expires?: string | undefined;
  readonly show?: string | undefined;
}

export interface ShownPlan {
  /** The JSON. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The page for people. */
  readonly page: string;
  readonly failure: CliError | undefined;
}
