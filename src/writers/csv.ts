/** A statement as CSV: plain with everything, or in the columns that QuickBooks and Xero import. */
import type { WallClock } from '../books/period.ts';
import type { Statement, StatementAccount } from '../books/statement.ts';
import type { Line } from '../books/statement-lines.ts';
import { guardFormula } from '../core/text.ts';
import { type AccountsFile, categoryOf, displayName } from './accounts.ts';
import { amount, type DateFormat, day, oneLine, type Piece } from './text.ts';

/** Columns of a CSV. */
export type Layout = 'plain' | 'quickbooks' | 'xero';

/** QuickBooks refuses longer files. */
const QUICKBOOKS_ROWS = 1_000;

export interface CsvOptions {
  readonly layout: Layout;
  /** That of the layout when left out. */
  readonly dateFormat?: DateFormat | undefined;
  readonly accounts: AccountsFile;
  /** Texts as they are, without the guard against formulas. */
  readonly raw: boolean;
}

/** A file for each thousand rows of QuickBooks, else one; every file has its header. */
export function* csvFiles({ accounts, clock }: Statement, asked: CsvOptions): Generator<Iterable<Piece>> {
  const { header, rowOf, dateFormat } = FORMS[asked.layout];
  const options = { ...asked, clock, dateFormat: asked.dateFormat ?? dateFormat };
  const start = { text: `${header}\n`, lines: 0 };
  const rowsOf = (account: StatementAccount) => {
    const named = { ...account, name: displayName(account) };
    return account.lines.map(line => record(rowOf(line, named, options), options));
  };
  if (options.layout !== 'quickbooks') yield onePerAccount(start, accounts, rowsOf);
  else yield* ofAThousand(start, accounts, rowsOf);
}

type RowsOf = (account: StatementAccount) => readonly string[];

function* onePerAccount(start: Piece, accounts: Iterable<StatementAccount>, rowsOf: RowsOf): Generator<Piece> {
  yield start;
  for (const account of accounts) yield { text: rowsOf(account).join(''), lines: account.lines.length };
}

function* ofAThousand(start: Piece, accounts: Iterable<StatementAccount>, rowsOf: RowsOf): Generator<Iterable<Piece>> {
  const file = (rows: readonly string[]) => [start, { text: rows.join(''), lines: rows.length }];
  let rows: string[] = [];
  let files = 0;
  for (const account of accounts) {
    for (const row of rowsOf(account)) {
      if (rows.length === QUICKBOOKS_ROWS) {
        yield file(rows);
        files += 1;
        rows = [];
      }
      rows.push(row);
    }
  }
  if (files === 0 || rows.length > 0) yield file(rows);
}

type Cell = string | { readonly number: string };
type RowOf = (
  line: Line,
  account: NamedAccount,
  options: CsvOptions & { readonly clock: WallClock },
) => readonly Cell[];

/** With its name for people: it takes a digest, so it is made once and not for each line. */
type NamedAccount = StatementAccount & { readonly name: string };

interface Form {
  readonly header: string;
  readonly dateFormat: DateFormat;
  readonly rowOf: RowOf;
}

const usd = (value: number): Cell => ({ number: amount(value) });
const about = ({ purpose }: Line) => (purpose === '' ? '' : `, ${purpose}`);
const mark = ({ provisional }: StatementAccount) => (provisional.length === 0 ? '' : ', provisional');

const FORMS: Readonly<Record<Layout, Form>> = {
  plain: {
    header:
      'date,time,account,card_id,last4,label,type,amount,currency,balance,payee,mcc,country,category,authorization_id,source,id,provisional,purpose',
    dateFormat: 'YYYY-MM-DD',
    rowOf: (line, account, { accounts, clock, dateFormat }) => [
      day(line.date, dateFormat),
      clock.timeAt(line.at),
      account.name,
      account.card_id ?? line.card_id ?? '',
      account.last4 ?? '',
      account.label ?? '',
      line.type,
      usd(line.cents),
      'USD',
      line.balance === null ? '' : usd(line.balance),
      line.payee,
      line.mcc ?? '',
      line.country ?? '',
      line.type === 'transfer' ? '' : categoryOf(line, account, accounts),
      line.authorization_id ?? '',
      line.source,
      line.id,
      account.provisional.length === 0 ? '' : 'yes',
      line.purpose,
    ],
  },
  quickbooks: {
    header: 'Date,Description,Amount',
    dateFormat: 'MM/DD/YYYY',
    rowOf: (line, account, { dateFormat }) => [
      day(line.date, dateFormat),
      `${line.payee || line.type}, ${account.name}${about(line)}${mark(account)}`,
      usd(line.cents),
    ],
  },
  xero: {
    header: 'Date,Amount,Payee,Description,Reference',
    dateFormat: 'DD/MM/YYYY',
    rowOf: (line, account, { dateFormat }) => [
      day(line.date, dateFormat),
      usd(line.cents),
      line.payee,
      `${line.type}, ${account.name}${about(line)}${mark(account)}`,
      line.id,
    ],
  },
};

function record(cells: readonly Cell[], { raw }: CsvOptions): string {
  let row = '';
  for (const cell of cells) row += `${row === '' ? '' : ','}${written(cell, raw)}`;
  return `${row}\n`;
}

function written(cell: Cell, raw: boolean): string {
  if (typeof cell !== 'string') return cell.number;
  const text = raw ? oneLine(cell) : guardFormula(oneLine(cell));
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
