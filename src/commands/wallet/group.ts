import type { Leaves } from '../../cli/parsing/command.ts';

export const WALLET_COMMANDS: Leaves = {
  wallet: async () => (await import('./wallet.ts')).showWallet,
  'wallet addresses': async () => (await import('./addresses.ts')).listAddresses,
};
