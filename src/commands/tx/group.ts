import { getTransaction } from './get.ts';
import { listTransactions } from './list.ts';
import { summarizeTransactions } from './summary.ts';
import { tailTransactions } from './tail.ts';

export const TRANSACTION_COMMANDS = [listTransactions, getTransaction, tailTransactions, summarizeTransactions];
