/** The rules of a shared journal: those of the program itself where they are functions, and those of its SQL by name. */
import { nextStep } from '../../../src/journal/execution/policy.ts';
import { sentUntilBy } from '../../../src/journal/runs/sent-until.ts';

export interface Rules {
  readonly nextStep: typeof nextStep;
  readonly sentUntilBy: typeof sentUntilBy;
  /** `append` refuses whoever has lost the op. */
  readonly isSentFenced: boolean;
  /** Whose time decides whether a lease is over. */
  readonly leaseClock: 'server' | 'client';
  /** `let_go` keeps the cents of what is unknown. */
  readonly holdsUnknown: boolean;
  /** `claim` refuses a change that equals one under a living lease, which proves nothing. */
  readonly refusesUnderLease: boolean;
  /** What is finished is handed to nobody, and ends once. */
  readonly endsOnce: boolean;
}

export const OURS: Rules = {
  nextStep,
  sentUntilBy,
  isSentFenced: true,
  leaseClock: 'server',
  holdsUnknown: true,
  refusesUnderLease: true,
  endsOnce: true,
};
