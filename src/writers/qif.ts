/** A statement as QIF. Readers ignore its ids: a second import doubles everything. */
import type { Line, Statement, StatementAccount } from '../books/statement.ts';
import { categoryOf, displayName } from './account-names.ts';
import type { AccountsFile } from './accounts-file.ts';
import { day } from './csv.ts';
import { amount, ascii } from './text.ts';

/** One file with an account after the other, each opened by its balance. */
export function qifFile(statement: Statement, accounts: AccountsFile): string {
  const names = new Map(statement.accounts.map(account => [account.card_id, displayName(account)]));
  const lines = statement.accounts.flatMap(account => [
    '!Account',
    `N${displayName(account)}`,
    'TBank',
    '^',
    '!Type:Bank',
    `D${day(statement.days.first, 'MM/DD/YYYY')}`,
    `T${amount(account.opening)}`,
    'C*',
    'POpening Balance',
    `L[${displayName(account)}]`,
    '^',
    ...account.lines.flatMap(line => entry(line, account, { names, accounts })),
  ]);
  return [...lines, ''].join('\r\n');
}

interface Naming {
  readonly names: ReadonlyMap<string | null, string>;
  readonly accounts: AccountsFile;
}

function entry(line: Line, account: StatementAccount, { names, accounts }: Naming): readonly string[] {
  const other = account.kind === 'wallet' ? names.get(line.card_id) : names.get(null);
  const category =
    line.type === 'transfer' && other !== undefined ? `[${other}]` : categoryOf(line, account.label, accounts);
  return [
    `D${day(line.date, 'MM/DD/YYYY')}`,
    `T${amount(line.cents)}`,
    'C*',
    `N${ascii(line.id)}`,
    `P${ascii(line.payee) || line.type}`,
    `L${category}`,
    '^',
  ];
}
