import { expect, it } from 'vitest';
import type { Statement } from '../../src/books/statement.ts';
import { DEFAULT_ACCOUNTS } from '../../src/writers/accounts.ts';
import { csvFiles } from '../../src/writers/csv.ts';

/** Accounts with so many lines. */
function statement(counts: readonly number[]): Statement {
  const line = { id: 'txn_1', date: '2026-11-20', type: 'settlement', cents: -100, payee: 'SHOP', purpose: '' };
  const account = { kind: 'card', card_id: 'card_1', last4: '4242', provisional: [] };
  return { accounts: counts.map(length => ({ ...account, lines: Array.from({ length }, () => line) })) } as never;
}

it.each([
  [[], [0]],
  [[1_000], [1_000]],
  [
    [999, 0, 2],
    [1_000, 1],
  ],
  [[2_500], [1_000, 1_000, 500]],
])('QuickBooks gets a thousand rows a file, of accounts with %j lines', (counts, rows) => {
  const found: number[] = [];
  for (const pieces of csvFiles(statement(counts), { layout: 'quickbooks', accounts: DEFAULT_ACCOUNTS, raw: false }))
    found.push([...pieces].reduce((sum, { lines }) => sum + lines, 0));
  expect(found).toEqual(rows);
});
