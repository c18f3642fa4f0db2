/** What must not count as an approval, the sharpest of each kind; `approvals.full.ts` has all of it. */
import { notAnApproval } from './approvals.ts';

notAnApproval({ isWhole: false });
