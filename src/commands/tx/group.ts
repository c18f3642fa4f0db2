import { listTransactions } from './list.ts';

export const TRANSACTION_COMMANDS = [listTransactions];
