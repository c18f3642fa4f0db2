/** A statement as CSV: plain with everything, or in the columns that QuickBooks and Xero import. */
import type { Line, Statement, StatementAccount } from '../books/statement.ts';
import { guardFormula } from '../core/csv-injection.ts';
import { categoryOf, displayName } from './account-names.ts';
import type { AccountsFile } from './accounts-file.ts';
import { amount, oneLine } from './text.ts';

export const LAYOUTS = ['plain', 'quickbooks', 'xero'] as const;
export type Layout = (typeof LAYOUTS)[number];

/** QuickBooks refuses longer files. */
export const QUICKBOOKS_ROWS = 1_000;

export interface CsvOptions {
  readonly layout: Layout;
  readonly accounts: AccountsFile;
  /** Texts as they are, without the guard against formulas. */
  readonly raw: boolean;
}

/** A file for each thousand rows of QuickBooks, else one. Every file has its header. */
export function csvFiles({ accounts }: Statement, options: CsvOptions): readonly string[] {
  const { header, rowOf } = FORMS[options.layout];
  const rows = accounts.flatMap(account => account.lines.map(line => record(rowOf(line, account, options), options)));
  const most = options.layout === 'quickbooks' ? QUICKBOOKS_ROWS : Math.max(1, rows.length);
  const files: string[] = [];
  for (let at = 0; at === 0 || at < rows.length; at += most) {
    files.push(`${header}\n${rows.slice(at, at + most).join('')}`);
  }
  return files;
}

type Cell = string | { readonly number: string };
type RowOf = (line: Line, account: StatementAccount, options: CsvOptions) => readonly Cell[];

const usd = (value: number): Cell => ({ number: amount(value) });

const FORMS: Readonly<Record<Layout, { readonly header: string; readonly rowOf: RowOf }>> = {
  plain: {
    header:
      'date,time,account,card_id,last4,label,type,amount,currency,balance,payee,mcc,country,category,authorization_id,source,id',
    rowOf: (line, account, { accounts }) => [
      line.date,
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
    rowOf: (line, account) => [
      american(line.date),
      `${line.payee || line.type}, ${displayName(account)}`,
      usd(line.cents),
    ],
  },
  xero: {
    header: 'Date,Amount,Payee,Description,Reference',
    rowOf: (line, account) => [
      european(line.date),
      usd(line.cents),
      line.payee,
      `${line.type}, ${displayName(account)}`,
      line.id,
    ],
  },
};

/** `10/31/2026`. */
export function american(date: string): string {
  const [year, month, day] = date.split('-');
  return `${month}/${day}/${year}`;
}

function european(date: string): string {
  return date.split('-').toReversed().join('/');
}

function record(cells: readonly Cell[], { raw }: CsvOptions): string {
  const written = cells.map(cell => {
    if (typeof cell !== 'string') return cell.number;
    const text = raw ? oneLine(cell) : guardFormula(oneLine(cell));
    return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${written.join(',')}\n`;
}
