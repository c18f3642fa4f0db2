/**
 * A statement in plain text accounting: hledger, ledger and beancount. Accounts come one after the other, each with its entries
 * by time and the id of each; closing balances are asserted to the cent.
 */
import type { OpenHold, Statement, StatementAccount } from '../books/statement.ts';
import { isoSeconds } from '../core/durations.ts';
import { addTo } from '../core/objects.ts';
import { type AccountsFile, categoryOf, ledgerName, namesIn } from './accounts.ts';
import { amount, oneLine, type Piece, PROVISIONAL } from './text.ts';

/** Where opening balances come from. */
const OPENING = 'Equity:Opening-Balances';

/** What an opening entry is called. One that nobody knows is there all the same: later closing balances rest on it. */
export function openingText({ knownSince }: Pick<StatementAccount, 'knownSince'>): string {
  if (knownSince === undefined) return 'Opening balance';
  return `Opening balance, computed and not known: the books begin at ${isoSeconds(knownSince)}`;
}

/** What an entry tells; one that is pending is an open authorization, whose money is the card's and cannot be spent. */
interface Entry {
  readonly isPending?: true;
  readonly at: number;
  readonly date: string;
  readonly id: string;
  /** Who was paid, or what it is. */
  readonly title: string;
  readonly purpose: string;
  readonly cents: number;
}

/** Of a journal that is not of the whole account: two that are included together would book a transfer twice. */
const PART =
  '; A part of the account: the other side of its transfers is a counter-account. Include no journal of that side, as --only cards beside --only wallet.\n';

/** What a program that reads a journal wants otherwise than the others. */
interface Program {
  readonly head: string;
  readonly indent: string;
  /** How an account is declared, or opened, before it is used. */
  readonly declared: (name: string, first: string) => string;
  readonly title: (text: string) => string;
  /** An entry before its two postings; `mark` is ! for a pending one. */
  readonly told: (entry: Entry, mark: string) => string;
}

const safePayee = (payee: string) => oneLine(payee).replace(/[;|]/g, ',');
const safeCode = (id: string) => oneLine(id).replace(/[()]/g, '_');
const quoted = (text: string) => `"${oneLine(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** For hledger and ledger, which differ by their commodity. */
const plain = (head: string): Program => ({
  head,
  indent: '    ',
  declared: name => `account ${name}\n`,
  title: safePayee,
  told({ date, id, title, purpose }, mark) {
    // A comma ends the value of a tag.
    const tag = purpose === '' ? '' : `    ; purpose: ${oneLine(purpose).replaceAll(',', ';')}\n`;
    return `${date} ${mark} (${safeCode(id)}) ${safePayee(title)}\n${tag}`;
  },
});

const PROGRAMS = {
  hledger: plain('commodity 1000.00 USD\n'),
  ledger: plain('commodity USD\n    format 1000.00 USD\n'),
  beancount: {
    head: 'option "operating_currency" "USD"\n',
    indent: '  ',
    declared: (name, first) => `${first} open ${name} USD\n`,
    title: quoted,
    told({ date, id, title, purpose }, mark) {
      const tag = purpose === '' ? '' : `  purpose: ${quoted(purpose)}\n`;
      return `${date} ${mark} ${quoted(title)} ""\n  id: ${quoted(id)}\n${tag}`;
    },
  },
} as const satisfies Readonly<Record<string, Program>>;

/**
 * One account at a time, so that a long file is never whole in memory. An account is declared before it is used, as ledger and
 * beancount want it. One that `continues` the files of the periods before has no opening balances, for all of them are included by
 * one journal; for beancount it opens what they do not: it takes no account that is opened twice. hledger and ledger assert the
 * closing balances at the end, beancount those of each account.
 */
export function* journalFile(
  statement: Statement,
  program: keyof typeof PROGRAMS,
  file: AccountsFile,
  continues = false,
): Generator<Piece> {
  const { accounts, holds, days, cards, period, selection } = statement;
  const { head, indent, declared, title, told }: Program = PROGRAMS[program];
  const isBeancount = program === 'beancount';
  const known = new Set(isBeancount && continues ? [OPENING, ...namesIn(file)] : []);
  /** Names that come for the first time, in their order. */
  const declare = (names: Iterable<string>) => {
    const found = [...names].filter(name => !known.has(name));
    for (const name of found) known.add(name);
    return found.map(name => declared(name, days.first)).join('');
  };
  const postings = (name: string, cents: number, other: string) =>
    `${indent}${name}  ${amount(cents)} USD\n${indent}${other}  ${amount(-cents)} USD\n`;
  // beancount asserts at the beginning of a day, and without a tolerance of its own it lets a cent pass.
  const asserted = (of: string, cents: number) =>
    isBeancount
      ? `${days.next} balance ${of} ${amount(cents)} ~ 0.001 USD\n`
      : `    ${of}  0.00 USD = ${amount(cents)} USD\n`;
  const made = new Map(cards.map(({ card_id, created_ms }) => [card_id, created_ms]));
  // No file of a period before can have opened it.
  const isNew = ({ card_id, opening }: StatementAccount) =>
    card_id !== null && opening === 0 && (made.get(card_id) ?? period.from) >= period.from;
  const cardNames = new Map<string, string>();
  if (selection === 'wallet')
    for (const card of cards) cardNames.set(card.card_id, ledgerName({ ...card, kind: 'card' }, file));
  const heldBy = new Map<string | null, OpenHold[]>();
  for (const hold of holds) addTo(heldBy, hold.card_id, hold);

  /** By time, a blank line before each; `names` are its own and those on the other side, `held` cents of open authorizations. */
  function entriesOf(account: StatementAccount, name: string, holdsName: string) {
    const entries: { at: number; id: string; text: string }[] = [];
    const names = new Set([name]);
    const add = (entry: Entry, other: string) => {
      names.add(other);
      const text = told(entry, entry.isPending ? '!' : '*') + postings(name, entry.cents, other);
      entries.push({ at: entry.at, id: entry.id, text });
    };
    for (const line of account.lines) {
      const isTransfer = line.type === 'transfer';
      // A transfer stands on both sides of a statement and once in a journal: on the card's, where cards are in it.
      if (isTransfer && account.kind === 'wallet' && selection !== 'wallet') continue;
      const across = account.kind === 'wallet' ? (cardNames.get(line.card_id ?? '') ?? file.default) : file.wallet;
      const other = isTransfer ? across : categoryOf(line, account, file);
      const { at, date, id, purpose, cents } = line;
      add({ at, date, id, purpose, cents, title: oneLine(line.payee) || line.type }, other);
    }
    const held = heldBy.get(account.card_id) ?? [];
    for (const hold of held) {
      const title = oneLine(hold.payee) || 'authorization';
      add({ ...hold, isPending: true, title, purpose: '', cents: -hold.cents }, holdsName);
    }
    if (held.length > 0) entries.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    let text = '';
    for (const entry of entries) text += `\n${entry.text}`;
    return { text, names, held: held.reduce((all, { cents }) => all + cents, 0) };
  }

  yield { text: head + (selection === 'all' ? '' : PART) + declare([OPENING]), lines: 0 };
  const seen = new Set<string | null>();
  /** What makes several accounts provisional is written once. */
  const said = new Set<string>();
  let closings = '';
  for (const account of accounts) {
    seen.add(account.card_id);
    // A name takes a digest, so it is made once and not for each line.
    const name = ledgerName(account, file);
    const holdsName = `${name}:Holds`;
    const { text: entries, names, held } = entriesOf(account, name, holdsName);
    if (isBeancount && continues && !isNew(account)) known.add(name);
    let text = `\n${declare(names)}`;
    if (account.opening !== 0 && !continues) {
      text += `\n${days.first} * ${title(openingText(account))}\n${postings(name, account.opening, OPENING)}`;
    }
    text += entries;
    for (const reason of account.provisional) if (!said.has(reason)) text += `\n; ${PROVISIONAL} ${oneLine(reason)}\n`;
    for (const reason of account.provisional) said.add(reason);
    if (account.known.closing === null) {
      text += `\n; its closing balance is not known: the books begin at ${isoSeconds(account.knownSince ?? 0)}\n`;
    } else if (isBeancount) {
      // With the holds, which stand in an account below it.
      text += `\n${asserted(name, account.closing)}`;
    } else {
      // Without what stands in its account of holds, and that one.
      closings += asserted(name, account.closing - held);
      if (held !== 0) closings += asserted(holdsName, held);
    }
    if (isBeancount && held > 0) text += asserted(holdsName, held);
    yield { text, lines: account.lines.length };
  }
  if (closings !== '') yield { text: `\n${days.last} * Closing balances\n${closings}`, lines: 0 };
  if (!isBeancount) return;
  // What a file that continues this one takes for opened, though nothing of it stands here.
  const begin = continues ? period.from : Number.NEGATIVE_INFINITY;
  const idle = cards.filter(
    ({ card_id, created_ms }) =>
      !seen.has(card_id) && created_ms !== null && created_ms >= begin && created_ms < period.to,
  );
  const later = selection === 'wallet' ? [] : idle.map(card => ledgerName({ ...card, kind: 'card' }, file));
  yield { text: declare([...(continues ? [] : namesIn(file)), ...later]), lines: 0 };
}
