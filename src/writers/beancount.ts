/** A statement as a beancount file: accounts opened, an entry a line with its id, balances asserted to the cent. */
import type { Statement } from '../books/statement-model.ts';
import type { AccountsFile } from './accounts-file.ts';
import { bookedAccounts, type EntryForms, OPENING } from './entries.ts';
import { holdsName } from './holds.ts';
import type { Piece } from './piece.ts';
import { amount, bothSides, oneLine } from './text.ts';

/** An account after the other, each opened before it is used. */
export function* beancountFile(statement: Statement, file: AccountsFile): Generator<Piece> {
  const { first, next } = statement.days;
  yield { text: `option "operating_currency" "USD"\n${first} open ${OPENING} USD\n`, lines: 0 };
  for (const { account, name, entries, fresh, held } of bookedAccounts(statement, file, FORMS)) {
    let text = '\n';
    for (const each of fresh) text += `${first} open ${each} USD\n`;
    if (account.opening !== 0) text += `\n${first} * "Opening balance"\n${postings(name, account.opening, OPENING)}`;
    for (const entry of entries) text += `\n${entry.text}`;
    // With the holds below an account. A balance is asserted at the beginning of its day, and without a tolerance of its
    // own it lets a cent pass.
    text += `\n${next} balance ${name} ${amount(account.closing)} ~ 0.001 USD\n`;
    if (held > 0) text += `${next} balance ${holdsName(account, file)} ${amount(held)} ~ 0.001 USD\n`;
    yield { text, lines: account.lines.length };
  }
}

const FORMS: EntryForms = {
  line({ date, id, payee, type, memo, cents }, { name, other }) {
    const head = `${date} * ${quoted(payee || type)} ${quoted(memo)}`;
    return `${head}\n  id: ${quoted(id)}\n${postings(name, cents, other)}`;
  },
  pending({ date, id, payee, cents }, { name, other }) {
    const head = `${date} ! ${quoted(payee || 'authorization')} ""`;
    return `${head}\n  id: ${quoted(id)}\n${postings(name, -cents, other)}`;
  },
};

function postings(name: string, cents: number, other: string): string {
  const [plus, minus] = bothSides(cents);
  return `  ${name}  ${plus} USD\n  ${other}  ${minus} USD\n`;
}

function quoted(text: string): string {
  return `"${oneLine(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
