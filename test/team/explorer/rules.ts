/** The rules of a shared journal: those of the program itself where they are functions, and those of its SQL by name. */
import { nextStep } from '../../../src/journal/execution/policy.ts';
import { ownerOf } from '../../../src/journal/runs/names-of-others.ts';
import { sentUntilBy } from '../../../src/journal/runs/sent-until.ts';
import { rowsNotSettled } from '../../../src/team/kept-both.ts';
import { linesLost } from '../../../src/team/loss.ts';
import { recordsLost } from '../../../src/team/lost-records.ts';

export interface Rules {
  readonly nextStep: typeof nextStep;
  readonly sentUntilBy: typeof sentUntilBy;
  /** Lines of the chain that a machine has seen and the database does not hold. */
  readonly linesLost: typeof linesLost;
  /** Records of an op that its copy shows to be lost. */
  readonly recordsLost: typeof recordsLost;
  /** Whose name a row of an op has that is taken up. */
  readonly ownerOf: typeof ownerOf;
  /** Rows that keep `--keep-both` from moving an op. */
  readonly rowsNotSettled: typeof rowsNotSettled;
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
  /** A name of an op that came to nothing passes to another op that has it too. */
  readonly passesNames: boolean;
  /** What `import_op` brings leaves names to the ops that have them. */
  readonly leavesNames: boolean;
  /** What another operator has ended is kept from who began it until it is shown to them. */
  readonly keepsNotTold: boolean;
  /** The next command of a machine notes what an earlier one has ended there and told nobody. */
  readonly notesLeft: boolean;
  /** `accept_clash` changes nothing of a name. */
  readonly acceptsWithoutEffect: boolean;
}

export const OURS: Rules = {
  nextStep,
  sentUntilBy,
  linesLost,
  recordsLost,
  ownerOf,
  rowsNotSettled,
  isSentFenced: true,
  leaseClock: 'server',
  holdsUnknown: true,
  refusesUnderLease: true,
  endsOnce: true,
  passesNames: true,
  leavesNames: true,
  keepsNotTold: true,
  notesLeft: true,
  acceptsWithoutEffect: true,
};
