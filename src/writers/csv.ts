/** A statement as CSV: plain with everything, or in the columns that QuickBooks and Xero import. */
import type { Line, Statement, StatementAccount } from '../books/statement.ts';
import { guardFormula } from '../core/csv-injection.ts';
import { categoryOf, displayName } from './account-names.ts';
import type { AccountsFile } from './accounts-file.ts';
import type { DateFormat, Layout } from './formats.ts';
import { amount, oneLine } from './text.ts';

/** QuickBooks refuses longer files. */
export const QUICKBOOKS_ROWS = 1_000;

export interface CsvOptions {
  readonly layout: Layout;
  /** That of the layout when left out. */
  readonly dateFormat?: DateFormat | undefined;
  readonly accounts: AccountsFile;
  /** Texts as they are, without the guard against formulas. */
  readonly raw: boolean;
}

export interface CsvFile {
  readonly text: string;
  readonly lines: number;
}

/** A file for each thousand rows of QuickBooks, else one. Every file has its header. */
export function csvFiles({ accounts }: Statement, asked: CsvOptions): readonly CsvFile[] {
  const { header, rowOf, dateFormat } = FORMS[asked.layout];
  const options = { ...asked, dateFormat: asked.dateFormat ?? dateFormat };
  const rows = accounts.flatMap(account => account.lines.map(line => record(rowOf(line, account, options), options)));
  const most = options.layout === 'quickbooks' ? QUICKBOOKS_ROWS : Math.max(1, rows.length);
  const files: CsvFile[] = [];
  for (let at = 0; at === 0 || at < rows.length; at += most) {
    const part = rows.slice(at, at + most);
    files.push({ text: `${header}\n${part.join('')}`, lines: part.length });
  }
  return files;
}

type Cell = string | { readonly number: string };
type RowOf = (line: Line, account: StatementAccount, options: CsvOptions) => readonly Cell[];

interface Form {
  readonly header: string;
  readonly dateFormat: DateFormat;
  readonly rowOf: RowOf;
}

const usd = (value: number): Cell => ({ number: amount(value) });

const FORMS: Readonly<Record<Layout, Form>> = {
  plain: {
    header:
      'date,time,account,card_id,last4,label,type,amount,currency,balance,payee,mcc,country,category,authorization_id,source,id',
    dateFormat: 'YYYY-MM-DD',
    rowOf: (line, account, { accounts, dateFormat }) => [
      day(line.date, dateFormat),
      line.time,
      displayName(account),
      account.card_id ?? line.card_id ?? '',
      account.last4 ?? '',
      account.label ?? '',
      line.type,
      usd(line.cents),
      'USD',
      usd(line.balance),
      line.payee,
      line.mcc ?? '',
      line.country ?? '',
      line.type === 'transfer' ? '' : categoryOf(line, account.label, accounts),
      line.authorization_id ?? '',
      line.source,
      line.id,
    ],
  },
  quickbooks: {
    header: 'Date,Description,Amount',
    dateFormat: 'MM/DD/YYYY',
    rowOf: (line, account, { dateFormat }) => [
      day(line.date, dateFormat),
      `${line.payee || line.type}, ${displayName(account)}`,
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
      `${line.type}, ${displayName(account)}`,
      line.id,
    ],
  },
};

/** Another order of the parts of `2026-10-31`. */
export function day(date: string, format: DateFormat = 'YYYY-MM-DD'): string {
  return format.replace('YYYY', date.slice(0, 4)).replace('MM', date.slice(5, 7)).replace('DD', date.slice(8));
}

function record(cells: readonly Cell[], { raw }: CsvOptions): string {
  const written = cells.map(cell => {
    if (typeof cell !== 'string') return cell.number;
    const text = raw ? oneLine(cell) : guardFormula(oneLine(cell));
    return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${written.join(',')}\n`;
}
