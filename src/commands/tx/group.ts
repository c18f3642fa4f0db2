import type { Leaves } from '../../cli/parsing/command.ts';

export const TRANSACTION_COMMANDS: Leaves = {
  'tx list': async () => (await import('./transactions.ts')).listTransactions,
  'tx get': async () => (await import('./transactions.ts')).getTransaction,
  'tx search': async () => (await import('./transactions.ts')).searchTransactions,
  'tx tail': async () => (await import('./tail.ts')).tailTransactions,
  'tx summary': async () => (await import('./summary.ts')).summarizeTransactions,
};
