/** The attacks that would move money; `approval-attacks.full.ts` has their variations. */
import { approvalAttacks } from './approval-attacks.ts';

approvalAttacks({ isWhole: false });
