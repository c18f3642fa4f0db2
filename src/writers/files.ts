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

/** What files of a format are like. */
interface Kind {
  readonly ending: string;
  /** How every file of it begins. */
  readonly mark: string;
  /** Each new file takes the place of the one before it; of all other formats the lines stay in the program that read them. */
  readonly isReplaced?: true;
}

const KINDS: Readonly<Record<ExportFormat, Kind>> = {
  csv: { ending: 'csv', mark: 'date,' },
  ofx: { ending: 'ofx', mark: 'OFXHEADER:100' },
  qbo: { ending: 'qbo', mark: 'OFXHEADER:100' },
  qif: { ending: 'qif', mark: '!Account' },
  hledger: { ending: 'journal', mark: 'commodity ', isReplaced: true },
  ledger: { ending: 'ledger', mark: 'commodity ', isReplaced: true },
  beancount: { ending: 'beancount', mark: 'option "operating_currency"', isReplaced: true },
};

/**
 * One file, or as many as the format wants: an account a file for QBO, a thousand rows for QuickBooks. Of the same export a file has
 * always the same name, `team-2026-10.journal`; `mark` is how every file of its kind begins. Walk the pieces of a file once, before
 * you ask for the next one. Lines that nothing shows yet are left out where an import that keeps lines would book them again.
 */
export function exportFiles(whole: Statement, { profile, label, ...wish }: ExportWish & Naming) {
  const { format, layout, accounts, continues } = wish;
  const { ending, mark, isReplaced } = KINDS[format];
  /** Of the accounts that were walked: how many, lines that were left out, and why these are provisional. */
  const kept = { walked: 0, leftOut: 0, reasons: new Set<string>() };
  function* keptAccounts(): Generator<StatementAccount> {
    [kept.walked, kept.leftOut] = [0, 0];
    for (const account of whole.accounts) {
      for (const reason of account.provisional) kept.reasons.add(reason);
      const lines = isReplaced ? account.lines : account.lines.filter(line => line.unproved === undefined);
      kept.walked += 1;
      kept.leftOut += account.lines.length - lines.length;
      yield { ...account, lines };
    }
  }
  const statement = { ...whole, accounts: { [Symbol.iterator]: keptAccounts } };
  const base = [profile, statement.period.name.replace('..', '_'), ...selected(statement, label)];
  if (layout !== 'plain') base.push(layout);
  /** `part`: what its name has more than others of the export. */
  const file = (pieces: Iterable<Piece>, part = '') => {
    const name = `${[...base, part].filter(Boolean).join('-')}.${ending}`;
    return { name, pieces, mark: format === 'csv' && layout !== 'plain' ? 'Date,' : mark };
  };
  async function* files(): AsyncGenerator<ReturnType<typeof file>, void> {
    switch (format) {
      case 'csv': {
        const { csvFiles } = await import('./csv.ts');
        let nth = 0;
        for (const pieces of csvFiles(statement, wish)) {
          nth += 1;
          // The first one has no number.
          yield file(pieces, nth === 1 ? '' : String(nth));
        }
        return;
      }
      case 'qbo': {
        const { ofxFile } = await import('./banks.ts');
        // The name of one account is in front already.
        const isNamed = statement.selection === 'card' || statement.selection === 'wallet';
        for (const account of statement.accounts)
          yield file(ofxFile({ ...statement, accounts: [account] }, wish.intuBid), isNamed ? '' : accountPart(account));
        return;
      }
      case 'ofx':
        return yield file((await import('./banks.ts')).ofxFile(statement));
      case 'qif':
        return yield file((await import('./banks.ts')).qifFile(statement, accounts, continues));
      default:
        yield file((await import('./journals.ts')).journalFile(statement, format, accounts, continues));
    }
  }
  return { kept, files: files() };
}

/** What of the account it is, where it is not all; a card by its number. */
function selected({ cards, selection }: Statement, label: string | undefined): readonly string[] {
  if (label !== undefined) return [labelPart(label)];
  if (selection === 'card') return cards.slice(0, 1).map(card => accountPart({ kind: 'card', ...card }));
  return selection === 'all' ? [] : [selection];
}
