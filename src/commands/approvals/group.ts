import { approveRequest } from './approve.ts';
import { createApprovalKey } from './key/create.ts';
import { showApprovalKey } from './key/show.ts';
import { listRequests } from './list.ts';
import { rejectRequest } from './reject.ts';
import { showRequest } from './show.ts';

export const APPROVAL_COMMANDS = [
  listRequests,
  showRequest,
  approveRequest,
  rejectRequest,
  createApprovalKey,
  showApprovalKey,
];
