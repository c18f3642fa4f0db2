/** A statement as CSV: plain with everything, or in the columns that QuickBooks and Xero import. */
import type { WallClock } from '../books/period.ts';
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

/** A file for each thousand rows of QuickBooks, else one; every file has its header. Walk each once before you ask for the next. */
export function* csvFiles({ accounts, clock }: Statement, asked: CsvOptions): Generator<Iterable<Piece>> {
  const { header, rowOf, dateFormat, most = Number.POSITIVE_INFINITY } = FORMS[asked.layout];
  const dayOf = ({ date }: Line) => day(date, asked.dateFormat ?? dateFormat);
  const writing = { accounts: asked.accounts, clock, dayOf, text: cellOf(asked.raw) };
  function* rowsOf(): Generator<string, undefined> {
    for (const account of accounts) {
      const named = { ...account, name: displayName(account) };
      for (const line of account.lines) yield `${rowOf(line, named, writing).join(',')}\n`;
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

interface Writing extends Pick<CsvOptions, 'accounts'> {
  readonly clock: WallClock;
  readonly dayOf: (line: Line) => string;
  /** A cell of text; all others are written as they are. */
  readonly text: (cell: string | null | undefined) => string;
}

interface Form {
  readonly header: string;
  readonly dateFormat: DateFormat;
  /** Rows of a file; no limit when left out. */
  readonly most?: number;
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
    // QuickBooks refuses longer files.
    most: 1_000,
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
