import type { Leaves } from '../../cli/parsing/command.ts';

export const BIN_COMMANDS: Leaves = {
  'bins list': async () => (await import('./list.ts')).listBins,
  'bins get': async () => (await import('./get.ts')).getBin,
  'bins pick': async () => (await import('./pick.ts')).pickBin,
};
