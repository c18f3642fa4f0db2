/** An export as files: their names, and what stands in them. */
import type { Statement, StatementAccount } from '../books/statement.ts';
import { accountPart, labelPart } from './account-names.ts';
import type { AccountsFile } from './accounts-file.ts';
import type { DateFormat, ExportFormat, Layout } from './formats.ts';

export interface ExportWish {
  readonly format: ExportFormat;
  readonly layout: Layout;
  readonly dateFormat: DateFormat | undefined;
  readonly accounts: AccountsFile;
  /** Cells of CSV without the guard against formulas. */
  readonly raw: boolean;
  /** QBO: number of the bank. */
  readonly intuBid: string;
}

/** Whose statement it is, for the names of files. */
export interface Selection {
  readonly profile: string;
  /** Pattern of labels that was asked for. */
  readonly label?: string | undefined;
}

export interface ExportFile {
  /** `team-2026-10.journal`: of the same export always the same. */
  readonly name: string;
  readonly text: string;
  /** Lines of the statement in it. */
  readonly lines: number;
  /** How every file of its kind begins. */
  readonly mark: string;
}

/** How its files are called and begin. */
const KINDS: Readonly<Record<ExportFormat, { readonly ending: string; readonly mark: string }>> = {
  csv: { ending: 'csv', mark: '' },
  ofx: { ending: 'ofx', mark: 'OFXHEADER:100' },
  qbo: { ending: 'qbo', mark: 'OFXHEADER:100' },
  qif: { ending: 'qif', mark: '!Account' },
  hledger: { ending: 'journal', mark: 'account ' },
  ledger: { ending: 'ledger', mark: 'account ' },
  beancount: { ending: 'beancount', mark: 'option "operating_currency"' },
};

/** One file, or as many as the format wants: an account a file for QBO, a thousand rows for QuickBooks. */
export async function exportFiles(
  statement: Statement,
  { profile, label, ...wish }: ExportWish & Selection,
): Promise<readonly ExportFile[]> {
  const { format, layout } = wish;
  const { ending, mark } = KINDS[format];
  const base = [profile, statement.period.name.replace('..', '_'), ...selected(statement, label)];
  if (layout !== 'plain') base.push(layout);
  const parts = await partsOf(statement, wish);
  return parts.map(({ text, lines, part }) => ({
    name: `${[...base, ...(part === '' ? [] : [part])].join('-')}.${ending}`,
    text,
    lines,
    mark: format === 'csv' ? text.slice(0, 5) : mark,
  }));
}

/** What of the account it is, where it is not all; a card by its number. */
function selected({ accounts, selection }: Statement, label: string | undefined): readonly string[] {
  if (label !== undefined) return [labelPart(label)];
  return selection === 'all' ? [] : accounts.slice(0, 1).map(accountPart);
}

interface Part {
  readonly text: string;
  readonly lines: number;
  /** What its name has more than others of the export. */
  readonly part: string;
}

async function partsOf(statement: Statement, wish: ExportWish): Promise<readonly Part[]> {
  const { format, accounts } = wish;
  switch (format) {
    case 'csv':
      return (await import('./csv.ts')).csvFiles(statement, wish).map(({ text, lines }, at) => {
        return { text, lines, part: at === 0 ? '' : String(at + 1) };
      });
    case 'ofx':
    case 'qbo': {
      const { ofxFiles } = await import('./ofx.ts');
      const at = statement.period.to;
      const texts = ofxFiles(statement, format === 'qbo' ? { at, intuBid: wish.intuBid } : { at });
      const isSplit = format === 'qbo' && statement.selection !== 'card';
      return texts.map((text, nth) => {
        const of = format === 'qbo' ? statement.accounts.slice(nth, nth + 1) : statement.accounts;
        return { text, lines: linesIn(of), part: isSplit ? of.map(accountPart).join('') : '' };
      });
    }
    case 'qif':
      return [whole(statement, (await import('./qif.ts')).qifFile(statement, accounts))];
    case 'beancount':
      return [whole(statement, (await import('./beancount.ts')).beancountFile(statement, accounts))];
    default:
      return [whole(statement, (await import('./journal.ts')).journalFile(statement, format, accounts))];
  }
}

function whole({ accounts }: Statement, text: string): Part {
  return { text, lines: linesIn(accounts), part: '' };
}

function linesIn(accounts: readonly StatementAccount[]): number {
  return accounts.reduce((sum, { lines }) => sum + lines.length, 0);
}
