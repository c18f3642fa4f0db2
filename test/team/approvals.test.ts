/** One asks and another one approves; `approvals.full.ts` has what is said around it. */
import { sharedApprovals } from './approvals.ts';

sharedApprovals({ isWhole: false });
