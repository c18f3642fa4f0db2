/** The other kills: around every call and every request, of one row and of a file. */
import { approvalKills } from './approval-kills.ts';

approvalKills([
  { killed: 'asks', rows: 1 },
  { killed: 'asks', rows: 3 },
  { killed: 'sends', rows: 1 },
  { killed: 'sends', rows: 3 },
]);
