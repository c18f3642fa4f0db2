import type { Leaves } from '../../cli/parsing/command.ts';

export const APPROVAL_COMMANDS: Leaves = {
  'approvals list': async () => (await import('./list.ts')).listRequests,
  'approvals show': async () => (await import('./show.ts')).showRequest,
  'approvals approve': async () => (await import('./approve.ts')).approveRequest,
  'approvals reject': async () => (await import('./reject.ts')).rejectRequest,
  'approvals key create': async () => (await import('./key/create.ts')).createApprovalKey,
  'approvals key show': async () => (await import('./key/show.ts')).showApprovalKey,
};
