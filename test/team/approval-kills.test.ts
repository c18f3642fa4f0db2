/** The sharpest kills: the plan is durable and nobody was told; the approval is used up and nothing was sent. */
import { approvalKills } from './approval-kills.ts';

approvalKills([
  { killed: 'asks', rows: 1, behind: 'claim' },
  { killed: 'sends', rows: 1, behind: 'release' },
]);
