import type { Leaves } from '../../cli/parsing/command.ts';

export const CONTRACT_COMMANDS: Leaves = {
  'contract check': async () => (await import('./check.ts')).checkContract,
  'contract show': async () => (await import('./show.ts')).showContract,
  'contract openapi': async () => (await import('./openapi.ts')).printOpenApi,
};
