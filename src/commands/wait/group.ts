import { waitCard } from './card.ts';
import { waitTransaction } from './tx.ts';
import { waitWallet } from './wallet.ts';

export const WAIT_COMMANDS = [waitCard, waitWallet, waitTransaction];
