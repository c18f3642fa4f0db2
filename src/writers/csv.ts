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
  const dayOf = ({ date }: Line) => day(date, asked.dateFormat ?? dateFormat);
  const writing = { accounts: asked.accounts, clock, dayOf, text: cellOf(asked.raw) };
  const start = { text: `${header}\n`, lines: 0 };
  const rowsOf = (account: StatementAccount) => {
    const named = { ...account, name: displayName(account) };
    return account.lines.map(line => `${rowOf(line, named, writing).join(',')}\n`);
  };
  if (asked.layout !== 'quickbooks') yield onePerAccount(start, accounts, rowsOf);
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

interface Writing extends Pick<CsvOptions, 'accounts'> {
  readonly clock: WallClock;
  readonly dayOf: (line: Line) => string;
  /** A cell of text; all others are written as they are. */
  readonly text: (cell: string | null | undefined) => string;
}

interface Form {
  readonly header: string;
  readonly dateFormat: DateFormat;
  /** `name` of the account is that for people: it takes a digest, so it is made once and not for each line. */
  readonly rowOf: (
    line: Line,
    account: StatementAccount & Record<'name', string>,
    writing: Writing,
  ) => readonly string[];
}

const about = ({ purpose }: Line) => (purpose === '' ? '' : `, ${purpose}`);
const mark = ({ provisional }: StatementAccount) => (provisional.length === 0 ? '' : ', provisional');

const FORMS: Readonly<Record<Layout, Form>> = {
  plain: {
    header:
      'date,time,account,card_id,last4,label,type,amount,currency,balance,payee,mcc,country,category,authorization_id,source,id,provisional,purpose',
    dateFormat: 'YYYY-MM-DD',
    rowOf: (line, account, { accounts, clock, dayOf, text }) => [
      dayOf(line),
      clock.timeAt(line.at),
      text(account.name),
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
      line.type === 'transfer' ? '' : text(categoryOf(line, account, accounts)),
      text(line.authorization_id),
      text(line.source),
      text(line.id),
      account.provisional.length === 0 ? '' : 'yes',
      text(line.purpose),
    ],
  },
  quickbooks: {
    header: 'Date,Description,Amount',
    dateFormat: 'MM/DD/YYYY',
    rowOf: (line, account, { dayOf, text }) => [
      dayOf(line),
      text(`${line.payee || line.type}, ${account.name}${about(line)}${mark(account)}`),
      amount(line.cents),
    ],
  },
  xero: {
    header: 'Date,Amount,Payee,Description,Reference',
    dateFormat: 'DD/MM/YYYY',
    rowOf: (line, account, { dayOf, text }) => [
      dayOf(line),
      amount(line.cents),
      text(line.payee),
      text(`${line.type}, ${account.name}${about(line)}${mark(account)}`),
      text(line.id),
    ],
  },
};

const cellOf = (raw: boolean) => (cell: string | null | undefined) => {
  const text = raw ? oneLine(cell ?? '') : guardFormula(oneLine(cell ?? ''));
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
