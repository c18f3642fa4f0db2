/** An export as files: their names, and what stands in them. */
import type { Statement } from '../books/statement-model.ts';
import { accountPart, labelPart } from './account-names.ts';
import type { AccountsFile } from './accounts-file.ts';
import type { DateFormat, ExportFormat, Layout } from './formats.ts';
import type { Piece } from './piece.ts';

export interface ExportWish {
  readonly format: ExportFormat;
  readonly layout: Layout;
  readonly dateFormat: DateFormat | undefined;
  readonly accounts: AccountsFile;
  /** Cells of CSV without the guard against formulas. */
  readonly raw: boolean;
  /** QBO: number of the bank. */
  readonly intuBid: string;
  /** Journals and QIF: without opening balances, as a file of the period before stands beside it. */
  readonly continues: boolean;
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
  /** Walk them once. */
  readonly pieces: Iterable<Piece>;
  /** How every file of its kind begins. */
  readonly mark: string;
}

/** How files are called and begin. */
interface Kind {
  readonly ending: string;
  readonly mark: string;
}

const KINDS: Readonly<Record<ExportFormat, Kind>> = {
  csv: { ending: 'csv', mark: 'date,' },
  ofx: { ending: 'ofx', mark: 'OFXHEADER:100' },
  qbo: { ending: 'qbo', mark: 'OFXHEADER:100' },
  qif: { ending: 'qif', mark: '!Account' },
  hledger: { ending: 'journal', mark: 'commodity ' },
  ledger: { ending: 'ledger', mark: 'commodity ' },
  beancount: { ending: 'beancount', mark: 'option "operating_currency"' },
};

/**
 * One file, or as many as the format wants: an account a file for QBO, a thousand rows for QuickBooks. Walk the pieces of
 * a file before you ask for the next one.
 */
export async function exportFiles(
  statement: Statement,
  { profile, label, ...wish }: ExportWish & Selection,
): Promise<Iterable<ExportFile>> {
  const { format, layout } = wish;
  const base = [profile, statement.period.name.replace('..', '_'), ...selected(statement, label)];
  if (layout !== 'plain') base.push(layout);
  const { ending, mark } = KINDS[format];
  const kind = { ending, mark: format === 'csv' && layout !== 'plain' ? 'Date,' : mark };
  return named(base, kind, await partsOf(statement, wish));
}

/** What of the account it is, where it is not all; a card by its number. */
function selected({ cards, selection }: Statement, label: string | undefined): readonly string[] {
  if (label !== undefined) return [labelPart(label)];
  return selection === 'all' ? [] : cards.slice(0, 1).map(card => accountPart({ kind: 'card', ...card }));
}

interface Part {
  readonly pieces: Iterable<Piece>;
  /** What its name has more than others of the export. */
  readonly part: string;
}

function* named(base: readonly string[], { ending, mark }: Kind, parts: Iterable<Part>): Generator<ExportFile> {
  for (const { pieces, part } of parts) {
    yield { name: `${[...base, ...(part === '' ? [] : [part])].join('-')}.${ending}`, pieces, mark };
  }
}

async function partsOf(statement: Statement, wish: ExportWish): Promise<Iterable<Part>> {
  const { format, accounts, continues } = wish;
  switch (format) {
    case 'csv':
      return counted((await import('./csv.ts')).csvFiles(statement, wish));
    case 'ofx': {
      const { period, until } = statement;
      return whole((await import('./ofx.ts')).ofxFile(statement.accounts, period, { until }));
    }
    case 'qbo':
      return anAccountEach(statement, wish.intuBid, (await import('./ofx.ts')).ofxFile);
    case 'qif':
      return whole((await import('./qif.ts')).qifFile(statement, accounts, continues));
    case 'beancount':
      return whole((await import('./beancount.ts')).beancountFile(statement, accounts, continues));
    default:
      return whole((await import('./journal.ts')).journalFile(statement, format, accounts, continues));
  }
}

const whole = (pieces: Iterable<Piece>): readonly Part[] => [{ pieces, part: '' }];

function* counted(files: Iterable<Iterable<Piece>>): Generator<Part> {
  let nth = 0;
  for (const pieces of files) {
    nth += 1;
    yield { pieces, part: nth === 1 ? '' : String(nth) };
  }
}

function* anAccountEach(
  { accounts, period, until, selection }: Statement,
  intuBid: string,
  ofxFile: typeof import('./ofx.ts').ofxFile,
): Generator<Part> {
  for (const account of accounts) {
    const pieces = ofxFile([account], period, { until, intuBid });
    // The name of one card is in front already.
    yield { pieces, part: selection === 'card' ? '' : accountPart(account) };
  }
}
