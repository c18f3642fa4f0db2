/** A statement as CSV: plain with everything, or in the columns that QuickBooks and Xero import. */
import type { Statement, StatementAccount } from '../books/statement.ts';
import type { Line } from '../books/statement-lines.ts';
import { guardFormula } from '../core/text.ts';
import { type AccountsFile, categoryOf, displayName } from './accounts.ts';
import { amount, type DateFormat, day, oneLine, type Piece } from './text.ts';

/** Columns of a CSV. */
export type Layout = 'plain' | 'quickbooks' | 'xero';

export interface CsvOptions {
  readonly layout: Layout;
  /** That of the layout when left out. */
  readonly dateFormat?: DateFormat | undefined;
  readonly accounts: AccountsFile;
  /** Texts as they are, without the guard against formulas. */
  readonly raw: boolean;
}

/** What a layout has beside its rows: its header, how it writes a day, and how many rows a file may have. */
const FORMS: Readonly<Record<Layout, { header: string; dateFormat: DateFormat; most?: number }>> = {
  plain: {
    header:
      'date,time,account,card_id,last4,label,type,amount,currency,balance,payee,mcc,country,category,authorization_id,source,id,provisional,purpose',
    dateFormat: 'YYYY-MM-DD',
  },
  // QuickBooks refuses longer files.
  quickbooks: { header: 'Date,Description,Amount', dateFormat: 'MM/DD/YYYY', most: 1_000 },
  xero: { header: 'Date,Amount,Payee,Description,Reference', dateFormat: 'DD/MM/YYYY' },
};

/** A file for each thousand rows of QuickBooks, else one; every file has its header. Walk each once before you ask for the next. */
export function* csvFiles({ accounts, clock }: Statement, asked: CsvOptions): Generator<Iterable<Piece>> {
  const { header, dateFormat, most = Number.POSITIVE_INFINITY } = FORMS[asked.layout];
  const dayOf = ({ date }: Line) => day(date, asked.dateFormat ?? dateFormat);
  /** A cell of text; all others are written as they are. */
  const text = (cell: string | null | undefined) => {
    const line = asked.raw ? oneLine(cell ?? '') : guardFormula(oneLine(cell ?? ''));
    return /[",]/.test(line) ? `"${line.replaceAll('"', '""')}"` : line;
  };
  /** Of the account and the purpose, behind who was paid or what it is. */
  const about = ({ purpose }: Line, { provisional }: StatementAccount, name: string) =>
    `, ${name}${purpose === '' ? '' : `, ${purpose}`}${provisional.length === 0 ? '' : ', provisional'}`;
  const rowOf: Readonly<Record<Layout, (line: Line, account: StatementAccount, name: string) => readonly string[]>> = {
    plain: (line, account, name) => [
      dayOf(line),
      clock.timeAt(line.at),
      text(name),
      text(account.card_id ?? line.card_id),
      text(account.last4),
      text(account.label),
      text(line.type),
      amount(line.cents),
      'USD',
      line.balance === null ? '' : amount(line.balance),
      text(line.payee),
      text(line.mcc),
      text(line.country),
      line.type === 'transfer' ? '' : text(categoryOf(line, account, asked.accounts)),
      text(line.authorization_id),
      text(line.source),
      text(line.id),
      account.provisional.length === 0 ? '' : 'yes',
      text(line.purpose),
    ],
    quickbooks: (line, account, name) => [
      dayOf(line),
      text(`${line.payee || line.type}${about(line, account, name)}`),
      amount(line.cents),
    ],
    xero: (line, account, name) => [
      dayOf(line),
      amount(line.cents),
      text(line.payee),
      text(`${line.type}${about(line, account, name)}`),
      text(line.id),
    ],
  };
  function* rowsOf(): Generator<string, undefined> {
    for (const account of accounts) {
      // It takes a digest, so it is made once and not for each line.
      const name = displayName(account);
      for (const line of account.lines) yield `${rowOf[asked.layout](line, account, name).join(',')}\n`;
    }
  }
  const rows = rowsOf();
  let next = rows.next();
  function* file(): Generator<Piece> {
    yield { text: `${header}\n`, lines: 0 };
    for (let count = 0; count < most && next.value !== undefined; count += 1) {
      yield { text: next.value, lines: 1 };
      next = rows.next();
    }
  }
  do yield file();
  while (next.done !== true);
}
