/** A statement as a beancount file: accounts opened, an entry a line with its id, balances asserted to the cent. */
import { provedBalances, type Statement, type StatementAccount } from '../books/statement-model.ts';
import { ledgerName } from './account-names.ts';
import { type AccountsFile, namesIn } from './accounts-file.ts';
import { bookedAccounts, type EntryForms, newNames, OPENING, openingText, unknownClosing } from './entries.ts';
import { holdsName } from './holds.ts';
import type { Piece } from './piece.ts';
import { amount, bothSides, oneLine } from './text.ts';

/**
 * An account after the other, each opened before it is used. One that `continues` the files of the periods before has no
 * opening balances, and opens what they do not: beancount takes no account that is opened twice.
 */
export function* beancountFile(statement: Statement, file: AccountsFile, continues = false): Generator<Piece> {
  const { first, next } = statement.days;
  const opened = new Set(continues ? [OPENING, ...namesIn(file)] : []);
  const open = (names: Iterable<string>) => newNames(names, opened).map(name => `${first} open ${name} USD\n`);
  yield { text: `option "operating_currency" "USD"\n${open([OPENING]).join('')}`, lines: 0 };
  const isNew = newCards(statement);
  const seen = new Set<string | null>();
  for (const { account, name, entries, names, held } of bookedAccounts(statement, file, FORMS)) {
    seen.add(account.card_id);
    if (continues && !isNew(account)) opened.add(name);
    let text = `\n${open(names).join('')}`;
    if (account.opening !== 0 && !continues) {
      text += `\n${first} * ${quoted(openingText(account))}\n${postings(name, account.opening, OPENING)}`;
    }
    for (const entry of entries) text += `\n${entry.text}`;
    // With the holds below an account. A balance is asserted at the beginning of its day, and without a tolerance of its
    // own it lets a cent pass.
    const { closing } = provedBalances(account, statement.period);
    if (closing === null) text += `\n${unknownClosing(account)}`;
    else text += `\n${next} balance ${name} ${amount(closing)} ~ 0.001 USD\n`;
    if (held > 0) text += `${next} balance ${holdsName(account, file)} ${amount(held)} ~ 0.001 USD\n`;
    yield { text, lines: account.lines.length };
  }
  yield { text: open(namesForLater(statement, file, { continues, seen })).join(''), lines: 0 };
}

/** Whether no file of a period before can have opened it. */
function newCards({ cards, period }: Statement): (account: Pick<StatementAccount, 'card_id' | 'opening'>) => boolean {
  const made = new Map(cards.map(({ card_id, created_ms }) => [card_id, created_ms]));
  return ({ card_id, opening }) =>
    card_id !== null && opening === 0 && (made.get(card_id) ?? period.from) >= period.from;
}

interface Opened {
  readonly continues: boolean;
  /** Cards with an account in the file. */
  readonly seen: ReadonlySet<string | null>;
}

/** What a file that continues this one takes for opened, though nothing of it stands here. */
function namesForLater({ cards, period }: Statement, file: AccountsFile, { continues, seen }: Opened): string[] {
  const begin = continues ? period.from : Number.NEGATIVE_INFINITY;
  const idle = cards.filter(
    ({ card_id, created_ms }) =>
      !seen.has(card_id) && created_ms !== null && created_ms >= begin && created_ms < period.to,
  );
  return [...(continues ? [] : namesIn(file)), ...idle.map(card => ledgerName({ ...card, kind: 'card' }, file))];
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
