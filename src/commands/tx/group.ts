import { chartTransactions } from './chart.ts';
import { getTransaction } from './get.ts';
import { listTransactions } from './list.ts';
import { searchTransactions } from './search.ts';
import { summarizeTransactions } from './summary.ts';
import { tailTransactions } from './tail.ts';

export const TRANSACTION_COMMANDS = [
  listTransactions,
  getTransaction,
  searchTransactions,
  tailTransactions,
  summarizeTransactions,
  chartTransactions,
];
