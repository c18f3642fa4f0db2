import type { Leaves } from '../../cli/parsing/command.ts';

export const OP_COMMANDS: Leaves = {
  'ops list': async () => (await import('./ops.ts')).listOps,
  'ops show': async () => (await import('./ops.ts')).showOp,
  'ops resume': async () => (await import('./ops.ts')).resumeOp,
  'ops resolve': async () => (await import('./resolve.ts')).resolveOp,
  'ops approve': async () => (await import('./approvals.ts')).approveOp,
  'ops reject': async () => (await import('./approvals.ts')).rejectOp,
  'ops keys create': async () => (await import('./approvals.ts')).createApprovalKey,
  'ops keys show': async () => (await import('./approvals.ts')).showApprovalKey,
  'ops keys list': async () => (await import('./approvals.ts')).listApprovers,
};
