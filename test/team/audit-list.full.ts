/** The whole of `audit-list.test.ts`. */
import { auditList } from './audit-list.ts';

auditList({ isWhole: true });
