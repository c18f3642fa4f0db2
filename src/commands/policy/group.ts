import type { Leaves } from '../../cli/parsing/command.ts';

export const POLICY_COMMANDS: Leaves = {
  'policy check': async () => (await import('./check.ts')).checkPolicy,
  'policy apply': async () => (await import('./apply.ts')).applyPolicy,
};
