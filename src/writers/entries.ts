/** What the formats of plain text accounting have in common: accounts one after the other, each with its entries by time. */
import type { Line, OpenHold, Statement, StatementAccount } from '../books/statement-model.ts';
import { isoSeconds } from '../core/iso-time.ts';
import { categoryOf, ledgerName } from './account-names.ts';
import type { AccountsFile } from './accounts-file.ts';
import { holdsName, PendingByCard } from './holds.ts';

/** Where opening balances come from. */
export const OPENING = 'Equity:Opening-Balances';

/** What an opening entry is called. One that nobody knows is there all the same: later closing balances rest on it. */
export function openingText({ knownSince }: StatementAccount): string {
  if (knownSince === undefined) return 'Opening balance';
  return `Opening balance, computed and not known: the books begin at ${isoSeconds(knownSince)}`;
}

/** A comment in place of a closing balance that nobody knows. */
export function unknownClosing({ knownSince = 0 }: StatementAccount): string {
  return `; its closing balance is not known: the books begin at ${isoSeconds(knownSince)}\n`;
}

/** An entry, and the account on its other side. */
interface Entry {
  readonly at: number;
  readonly id: string;
  readonly other: string;
  readonly text: string;
}

/** An account and the one on the other side, by their names; cents go from the second to the first. */
export interface Sides {
  readonly name: string;
  readonly other: string;
}

/** How a format writes an entry: lines, each with its end. */
export interface EntryForms {
  readonly line: (line: Line, sides: Sides) => string;
  /** An authorization that is open: its money is the card's and cannot be spent. */
  readonly pending: (hold: OpenHold, sides: Sides) => string;
}

export interface BookedAccount {
  readonly account: StatementAccount;
  readonly name: string;
  readonly entries: readonly Entry[];
  /** Its own, and those on the other side of its entries. */
  readonly names: ReadonlySet<string>;
  /** Cents that open authorizations hold. */
  readonly held: number;
}

/** One account at a time, so that a long file is never whole in memory. */
export function* bookedAccounts(
  { accounts, holds }: Pick<Statement, 'accounts' | 'holds'>,
  file: AccountsFile,
  forms: EntryForms,
): Generator<BookedAccount> {
  const open = new PendingByCard(holds);
  for (const account of accounts) {
    // A name takes a digest, so it is made once and not for each line.
    const name = ledgerName(account, file);
    const entries: Entry[] = [];
    for (const line of account.lines) {
      // A transfer stands on both sides of a statement and once in a journal: on the card's.
      if (line.type === 'transfer' && account.kind === 'wallet') continue;
      const other = line.type === 'transfer' ? file.wallet : categoryOf(line, account.label, file);
      entries.push({ at: line.at, id: line.id, other, text: forms.line(line, { name, other }) });
    }
    const held = open.of(account);
    if (held.length > 0) entries.push(...pendingEntries(held, { name, other: holdsName(account, file) }, forms));
    if (held.length > 0) entries.sort(byTime);
    const names = new Set([name, ...entries.map(({ other }) => other)]);
    yield { account, name, entries, names, held: open.sum(account) };
  }
}

/** Names that come for the first time, in their order: a format declares them. They are known from then on. */
export function newNames(names: Iterable<string>, known: Set<string>): readonly string[] {
  const found = [...names].filter(name => !known.has(name));
  for (const name of found) known.add(name);
  return found;
}

function pendingEntries(held: readonly OpenHold[], sides: Sides, forms: EntryForms): readonly Entry[] {
  return held.map(hold => ({ at: hold.at, id: hold.id, other: sides.other, text: forms.pending(hold, sides) }));
}

const byTime = (a: Entry, b: Entry) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
