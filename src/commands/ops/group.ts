import type { Leaves } from '../../cli/parsing/command.ts';

export const OP_COMMANDS: Leaves = {
  'ops list': async () => (await import('./list.ts')).listOps,
  'ops show': async () => (await import('./show.ts')).showOp,
  'ops resume': async () => (await import('./resume.ts')).resumeOp,
  'ops resolve': async () => (await import('./resolve.ts')).resolveOp,
};
