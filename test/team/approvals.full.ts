/** The whole of `approvals.test.ts`. */
import { sharedApprovals } from './approvals.ts';

sharedApprovals({ isWhole: true });
