import type { Leaves } from '../../cli/parsing/command.ts';

export const OP_COMMANDS: Leaves = {
  'ops list': async () => (await import('./list.ts')).listOps,
  'ops show': async () => (await import('./show.ts')).showOp,
  'ops resume': async () => (await import('./resume.ts')).resumeOp,
  'ops resolve': async () => (await import('./resolve.ts')).resolveOp,
  'ops approve': async () => (await import('./approve.ts')).approveOp,
  'ops reject': async () => (await import('./reject.ts')).rejectOp,
  'ops keys create': async () => (await import('./keys/create.ts')).createApprovalKey,
  'ops keys show': async () => (await import('./keys/show.ts')).showApprovalKey,
  'ops keys list': async () => (await import('./keys/list.ts')).listApprovers,
};
