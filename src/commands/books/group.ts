import type { Leaves } from '../../cli/parsing/command.ts';

export const BOOKS_COMMANDS: Leaves = {
  'books sync': async () => (await import('./books.ts')).syncBooks,
  'books status': async () => (await import('./books.ts')).booksState,
  'books reconcile': async () => (await import('./reconcile.ts')).reconcileAccount,
  'books statement': async () => (await import('./statement.ts')).showStatement,
  'books export': async () => (await import('./export.ts')).exportStatement,
  'books query': async () => (await import('./books.ts')).queryBooks,
  'books reset': async () => (await import('./books.ts')).resetBooks,
};
