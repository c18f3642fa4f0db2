/** Amounts, outcomes and a run that was killed in the log of all; `audit-list.full.ts` has the rest. */
import { auditList } from './audit-list.ts';

auditList({ isWhole: false });
