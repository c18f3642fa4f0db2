/** A statement as QIF. Readers ignore its ids: a second import doubles everything. */
import type { Statement, StatementAccount } from '../books/statement.ts';
import type { Line } from '../books/statement-lines.ts';
import { type AccountsFile, categoryOf, displayName, type Named } from './accounts.ts';
import { openingText } from './journals.ts';
import { amount, ascii, day, type Piece, PROVISIONAL } from './text.ts';

/** One file with an account after the other, each opened by its balance, where it does not continue an earlier file. */
export function* qifFile(statement: Statement, accounts: AccountsFile, continues = false): Generator<Piece> {
  const { accounts: each, days } = statement;
  const names = namesIn(statement);
  for (const account of each) {
    const name = displayName(account);
    const lines = [
      '!Account',
      `N${name}`,
      'TBank',
      ...account.provisional.slice(0, 1).map(reason => `D${PROVISIONAL} ${ascii(reason)}`),
      '^',
      '!Type:Bank',
      ...(continues ? [] : opening(account, { name, first: days.first })),
      ...account.lines.flatMap(line => entry(line, account, names, accounts)),
    ];
    yield { text: `${lines.join('\r\n')}\r\n`, lines: account.lines.length };
  }
}

function opening(
  account: StatementAccount,
  { name, first }: { readonly name: string; readonly first: string },
): readonly string[] {
  const date = day(first, 'MM/DD/YYYY');
  const memo = account.knownSince === undefined ? [] : [`M${openingText(account)}`];
  // Programs know an opening by this payee, whatever it is worth.
  return [`D${date}`, `T${amount(account.opening)}`, 'C*', 'POpening Balance', ...memo, `L[${name}]`, '^'];
}

/** Accounts that a transfer may name: those that are in the file. */
function namesIn({ selection, cards }: Statement): ReadonlyMap<string | null, string> {
  if (selection !== 'all') return new Map();
  const named: readonly Named[] = [
    { kind: 'wallet', card_id: null, last4: null },
    ...cards.map(({ card_id, last4 }) => ({ kind: 'card' as const, card_id, last4 })),
  ];
  return new Map(named.map(each => [each.card_id, displayName(each)]));
}

function entry(
  line: Line,
  account: StatementAccount,
  names: ReturnType<typeof namesIn>,
  accounts: AccountsFile,
): readonly string[] {
  const other = account.kind === 'wallet' ? names.get(line.card_id) : names.get(null);
  const category = line.type === 'transfer' && other !== undefined ? `[${other}]` : categoryOf(line, account, accounts);
  return [
    `D${day(line.date, 'MM/DD/YYYY')}`,
    `T${amount(line.cents)}`,
    'C*',
    `N${ascii(line.id)}`,
    `P${ascii(line.payee) || line.type}`,
    ...(line.purpose === '' ? [] : [`M${ascii(line.purpose)}`]),
    `L${category}`,
    '^',
  ];
}
