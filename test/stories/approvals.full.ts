/** The whole of `approvals.test.ts`. */
import { notAnApproval } from './approvals.ts';

notAnApproval({ isWhole: true });
