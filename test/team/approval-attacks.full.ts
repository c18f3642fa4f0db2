/** The whole of `approval-attacks.test.ts`. */
import { approvalAttacks } from './approval-attacks.ts';

approvalAttacks({ isWhole: true });
