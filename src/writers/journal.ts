/** A statement as a journal of hledger or ledger: an entry a line, a transfer once, the closing balances asserted. */
import { provedBalances, type Statement } from '../books/statement-model.ts';
import type { AccountsFile } from './accounts-file.ts';
import {
  type BookedAccount,
  bookedAccounts,
  type EntryForms,
  newNames,
  OPENING,
  openingText,
  unknownClosing,
} from './entries.ts';
import { holdsName } from './holds.ts';
import type { Piece } from './piece.ts';
import { amount, bothSides, oneLine } from './text.ts';

/** Programs that read it, and how each wants its commodity. */
const COMMODITY = {
  hledger: ['commodity 1000.00 USD'],
  ledger: ['commodity USD', '    format 1000.00 USD'],
} as const;

/**
 * An account after the other: its name, what was there before, its entries by time. An account is declared before it is
 * used, as ledger wants it. At the end the closing balances are asserted. One that `continues` the file of the period before
 * has no opening balances: both are included by one journal.
 */
export function* journalFile(
  statement: Statement,
  program: keyof typeof COMMODITY,
  file: AccountsFile,
  continues = false,
): Generator<Piece> {
  const { days } = statement;
  const declared = new Set([OPENING]);
  yield { text: [...COMMODITY[program], `account ${OPENING}`, ''].join('\n'), lines: 0 };
  let closings = '';
  for (const booked of bookedAccounts(statement, file, FORMS)) {
    const { account, name, entries, names } = booked;
    let text = '\n';
    for (const each of newNames(names, declared)) text += `account ${each}\n`;
    if (account.opening !== 0 && !continues) {
      text += `\n${days.first} * ${openingText(account)}\n${postings(name, account.opening, OPENING)}`;
    }
    for (const entry of entries) text += `\n${entry.text}`;
    const known = provedBalances(account, statement.period).closing;
    if (known === null) text += `\n${unknownClosing(account)}`;
    else closings += `${closing(booked, file).join('\n')}\n`;
    yield { text, lines: account.lines.length };
  }
  if (closings !== '') closings = `\n${days.last} * Closing balances\n${closings}`;
  yield { text: closings, lines: 0 };
}

/** An account without what stands in its account of holds, and that one. */
function closing({ account, name, held }: BookedAccount, file: AccountsFile): readonly string[] {
  const asserted = (of: string, cents: number) => `    ${of}  0.00 USD = ${amount(cents)} USD`;
  const own = asserted(name, account.closing - held);
  return held === 0 ? [own] : [own, asserted(holdsName(account, file), held)];
}

const FORMS: EntryForms = {
  line({ date, id, payee, type, cents }, { name, other }) {
    return `${date} * (${safeCode(id)}) ${safePayee(payee) || type}\n${postings(name, cents, other)}`;
  },
  pending({ date, id, payee, cents }, { name, other }) {
    return `${date} ! (${safeCode(id)}) ${safePayee(payee) || 'authorization'}\n${postings(name, -cents, other)}`;
  },
};

function postings(name: string, cents: number, other: string): string {
  const [plus, minus] = bothSides(cents);
  return `    ${name}  ${plus} USD\n    ${other}  ${minus} USD\n`;
}

const safePayee = (payee: string) => oneLine(payee).replace(/[;|]/g, ',');
const safeCode = (id: string) => oneLine(id).replace(/[()]/g, '_');
