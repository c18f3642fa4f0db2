import type { Leaves } from '../../cli/parsing/command.ts';

export const WAIT_COMMANDS: Leaves = {
  'wait card': async () => (await import('./card.ts')).waitCard,
  'wait wallet': async () => (await import('./wallet.ts')).waitWallet,
  'wait tx': async () => (await import('./tx.ts')).waitTransaction,
};
