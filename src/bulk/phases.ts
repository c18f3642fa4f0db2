/** Rows in phases: which phase is on, and which rows are not begun because of others. */
import type { CliError } from '../core/errors.ts';
import type { RowOutcome } from '../journal/types.ts';

interface PhasedRow {
  readonly row: number;
  readonly phase?: number | undefined;
  readonly needs?: readonly number[] | undefined;
  readonly spends?: boolean | undefined;
}

type BeforePhase = (phase: number) => Promise<CliError | undefined>;

/** `before` is asked when a phase begins; what it resolves to stops the run. */
export function createPhases(before: BeforePhase | undefined) {
  const notDone = new Set<number>();
  let [now, isEmpty] = [0, false];
  return {
    now: () => now,
    /** Undefined where it begins at once. */
    enter(phase: number): Promise<CliError | undefined> | undefined {
      now = phase;
      return before?.(phase);
    },
    learn({ row, phase }: PhasedRow, { outcome, error }: RowOutcome): void {
      if (phase === undefined || outcome === 'done') return;
      notDone.add(row);
      if (error?.kind === 'insufficient_funds') isEmpty = true;
    },
    skips({ row, phase, needs = [], spends = false }: PhasedRow): boolean {
      const skipped = phase !== undefined && ((spends && isEmpty) || needs.some(each => notDone.has(each)));
      if (skipped) notDone.add(row);
      return skipped;
    },
  };
}
