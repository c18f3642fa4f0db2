/** An export as files: the formats, the names of the files, and what stands in them. */
import type { Statement, StatementAccount } from '../books/statement.ts';
import { accountPart, labelPart } from './accounts.ts';
import type { CsvOptions, Layout } from './csv.ts';
import type { Piece } from './text.ts';

export const EXPORT_FORMATS = ['csv', 'ofx', 'qbo', 'qif', 'hledger', 'ledger', 'beancount'] as const;
type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const LAYOUTS: readonly [Layout, ...Layout[]] = ['plain', 'quickbooks', 'xero'];

export interface ExportWish extends CsvOptions {
  readonly format: ExportFormat;
  /** QBO: number of the bank. */
  readonly intuBid: string;
  /** Journals and QIF: without opening balances, as a file of the period before stands beside it. */
  readonly continues: boolean;
}

/** Whose statement it is, for the names of files. */
export interface Naming {
  readonly profile: string;
  /** Pattern of labels that was asked for. */
  readonly label?: string | undefined;
}

/** How files are called and begin. */
const KINDS: Readonly<Record<ExportFormat, Readonly<Record<'ending' | 'mark', string>>>> = {
  csv: { ending: 'csv', mark: 'date,' },
  ofx: { ending: 'ofx', mark: 'OFXHEADER:100' },
  qbo: { ending: 'qbo', mark: 'OFXHEADER:100' },
  qif: { ending: 'qif', mark: '!Account' },
  hledger: { ending: 'journal', mark: 'commodity ' },
  ledger: { ending: 'ledger', mark: 'commodity ' },
  beancount: { ending: 'beancount', mark: 'option "operating_currency"' },
};

/**
 * One file, or as many as the format wants: an account a file for QBO, a thousand rows for QuickBooks. Of the same export a file has
 * always the same name, `team-2026-10.journal`; `mark` is how every file of its kind begins. Walk the pieces of a file once, before
 * you ask for the next one.
 */
export async function exportFiles(statement: Statement, { profile, label, ...wish }: ExportWish & Naming) {
  const { format, layout, accounts, continues } = wish;
  const base = [profile, statement.period.name.replace('..', '_'), ...selected(statement, label)];
  if (layout !== 'plain') base.push(layout);
  const kind = KINDS[format];
  const mark = format === 'csv' && layout !== 'plain' ? 'Date,' : kind.mark;
  /** `part`: what its name has more than others of the export. */
  const file = (pieces: Iterable<Piece>, part = '') => {
    return { name: `${[...base, part].filter(Boolean).join('-')}.${kind.ending}`, pieces, mark };
  };
  switch (format) {
    case 'csv': {
      const { csvFiles } = await import('./csv.ts');
      // The first one has no number.
      return each(csvFiles(statement, wish), (pieces, nth) => file(pieces, nth === 1 ? '' : String(nth)));
    }
    case 'qbo': {
      const { ofxFile } = await import('./banks.ts');
      // The name of one account is in front already.
      const isNamed = statement.selection === 'card' || statement.selection === 'wallet';
      return each(statement.accounts, account =>
        file(ofxFile({ ...statement, accounts: [account] }, wish.intuBid), isNamed ? '' : accountPart(account)),
      );
    }
    case 'ofx':
      return [file((await import('./banks.ts')).ofxFile(statement))];
    case 'qif':
      return [file((await import('./banks.ts')).qifFile(statement, accounts, continues))];
    default:
      return [file((await import('./journals.ts')).journalFile(statement, format, accounts, continues))];
  }
}

/** One after the other, so that one account at a time is in memory. */
function* each<Item, Made>(items: Iterable<Item>, make: (item: Item, nth: number) => Made): Generator<Made> {
  let nth = 0;
  for (const item of items) {
    nth += 1;
    yield make(item, nth);
  }
}

/** What of the account it is, where it is not all; a card by its number. */
function selected({ cards, selection }: Statement, label: string | undefined): readonly string[] {
  if (label !== undefined) return [labelPart(label)];
  if (selection === 'card') return cards.slice(0, 1).map(card => accountPart({ kind: 'card', ...card }));
  return selection === 'all' ? [] : [selection];
}

/** Each new file takes the place of the one before it; of all other formats the lines stay in the program that read them. */
const REPLACED: ReadonlySet<ExportFormat> = new Set(['hledger', 'ledger', 'beancount']);

/** A statement without the lines that nothing shows yet: an import that keeps lines would book them again. */
export class KeptLines {
  readonly statement: Statement;
  /** Lines that were left out of the accounts that were walked, and why these are provisional. */
  leftOut = 0;
  /** How many accounts were walked. */
  walked = 0;
  readonly reasons = new Set<string>();

  constructor(statement: Statement, format: ExportFormat) {
    const isReplaced = REPLACED.has(format);
    this.statement = { ...statement, accounts: { [Symbol.iterator]: () => this.#accounts(statement, isReplaced) } };
  }

  *#accounts({ accounts }: Statement, isReplaced: boolean): Generator<StatementAccount> {
    this.leftOut = 0;
    this.walked = 0;
    for (const account of accounts) {
      for (const reason of account.provisional) this.reasons.add(reason);
      const lines = isReplaced ? account.lines : account.lines.filter(line => line.unproved === undefined);
      this.walked += 1;
      this.leftOut += account.lines.length - lines.length;
      yield { ...account, lines };
    }
  }
}
