import type { Leaves } from '../../cli/parsing/command.ts';

export const FLEET_COMMANDS: Leaves = {
  'fleet validate': async () => (await import('./file.ts')).validateFleet,
  'fleet plan': async () => (await import('./plan.ts')).planFleetFile,
  'fleet apply': async () => (await import('./apply.ts')).applyFleet,
  'fleet import': async () => (await import('./import.ts')).importFleet,
};
