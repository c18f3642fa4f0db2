import { listAddresses } from './addresses.ts';
import { showWallet } from './wallet.ts';

export const WALLET_COMMANDS = [showWallet, listAddresses];
