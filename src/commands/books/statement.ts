/** Statements of an account. */

import { readPeriod, WallClock } from '../../books/period.ts';
import {
  GROUPED_BY,
  type GroupedBy,
  groupsOf,
  type Statement,
  type StatementAccount,
  type StatementGroup,
  standingOf,
  statementOf,
} from '../../books/statement.ts';
import type { Line, StatementInput } from '../../books/statement-lines.ts';
import type { Context } from '../../cli/context.ts';
import { columnsOf } from '../../cli/listing.ts';
import { COPY_FLAGS, openCopy } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { type FlagValues, maybe, needs, option, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import { quote } from '../../cli/parsing/values.ts';
import { must } from '../../contract/field.ts';
import { ACCOUNT_CURRENCY } from '../../contract/resources.ts';
import { isoSeconds, isoTime } from '../../core/durations.ts';
import { CliError, usage } from '../../core/errors.ts';
import { cents, dollars, toCents, toUsd } from '../../core/money.ts';
import { glob } from '../../core/text.ts';
import { type Block, type Column, lineBlock, type Row, tableBlock } from '../../terminal/view.ts';
import { leftOutText } from '../tx/summary.ts';

const PARTS = ['wallet', 'cards'] as const;

export const STATEMENT_FLAGS = {
  period: needs(
    must(takes.text('2026-10, last-month, this-month, 2026-Q4, 2026, or days as 2026-10-01..2026-10-31.')),
    '<period>',
  ),
  card: option(takes.text('This card alone, without the wallet.', { names: 'card' })),
  label: option(takes.text('Cards whose label is like this, as "saas*", without the wallet.'), '<glob>'),
  only: option(takes.choice(PARTS, 'The wallet alone, or all cards without it.')),
  tz: option(takes.text('Time zone of the days; UTC when left out.'), '<zone>'),
  unreconciled: option(
    takes.flag('Without an exact checkpoint: by what the copy shows, with lines for what is not explained.'),
  ),
  ...COPY_FLAGS,
} as const;

export const STATEMENT_ENDS = {
  check_failed: 'No exact checkpoint stands at or after the end of the period.',
  contract_mismatch: 'No exact checkpoint shows the period, and records of it are in another currency than USD.',
  unreachable: 'With --offline there is no copy, or the service cannot be asked.',
  not_found: 'The copy holds no such card.',
} as const;

export interface StatementQuery extends FlagValues<typeof STATEMENT_FLAGS> {
  /** With the open authorizations of the period. */
  readonly pending?: boolean;
}

/**
 * Hands the statement to `use` while the copy is open, with the instant of the copy (ISO 8601 UTC). Throws `check_failed` where
 * no exact checkpoint shows the end of the period, and `not_found` for a card that has no copy.
 */
export async function statementFor<T>(
  ctx: Context,
  asked: StatementQuery,
  use: (statement: Statement, as_of: string) => T | Promise<T>,
): Promise<T> {
  const { card, label, only, tz = 'UTC' } = asked;
  if ([card, label, only].filter(each => each !== undefined).length > 1)
    throw usage('give one of --card, --label and --only');
  const clock = new WallClock(tz);
  // What is wrong with it is told before anything is asked.
  readPeriod(asked.period, clock, ctx.api.serviceNow());
  using copy = await openCopy(ctx, asked);
  const { db, as_of } = copy;
  // Where nothing was sent the clock of this machine is all there is, and the copy may be of a later time.
  const now = Math.max(ctx.api.serviceNow(), Date.parse(as_of));
  const period = readPeriod(asked.period, clock, now);
  const { statementRows } = await import('../../mirror/statement-rows.ts');
  const { leftOut, ...rows } = statementRows(db, period, asked);
  const statement = statementOf({ ...rows, ...selected(rows.cards, asked), clock, now });
  // A checkpoint shows the dollars without records in another currency; where none does they may be what is missing.
  const { records, currencies } = leftOut;
  if (records > 0 && rows.checkpoints.length === 0) {
    throw new CliError('contract_mismatch', {
      message: `records of ${period.name} are in ${currencies.join(', ')}, and amounts are understood in USD alone`,
      hint: 'cardwright books reconcile',
      operation: 'transactions.list',
    });
  }
  if (records > 0) ctx.ui.notice(leftOutText(records));
  return await use(statement, as_of);
}

/** Which accounts are asked for. Throws `not_found` for cards that the copy does not hold. */
function selected(
  cards: StatementInput['cards'],
  { card, label, only }: StatementQuery,
): Pick<StatementInput, 'only' | 'selection'> {
  if (only !== undefined) return { selection: only };
  if (card !== undefined) {
    if (cards.some(row => row.card_id === card)) return { selection: 'card', only: row => row.card_id === card };
    throw new CliError('not_found', { message: `the copy holds no card ${card}`, hint: 'cardwright books sync' });
  }
  if (label === undefined) return {};
  const fits = glob(label);
  if (cards.some(row => fits(row.label ?? ''))) return { selection: 'cards', only: row => fits(row.label ?? '') };
  throw new CliError('not_found', {
    message: `the copy holds no card whose label is like ${JSON.stringify(label)}; * stands for any text`,
    hint: 'cardwright cards list --offline',
  });
}

const MOST_REASONS = 10;

/** Tells a person why a statement is provisional; resolves to what it is. */
export function showStanding(
  ctx: Context,
  statement: Statement,
  accounts: Iterable<Pick<StatementAccount, 'provisional'>>,
) {
  const standing = standingOf(statement, accounts);
  for (const reason of standing.provisional.slice(0, MOST_REASONS))
    ctx.ui.notice(`${statement.period.name} is provisional: ${reason}`);
  return standing;
}

const LINE = {
  id: tells.text('Record, own row, or derived; the same for the same checkpoints.'),
  at: tells.time('When it happened.'),
  date: tells.text('Day in the asked time zone.'),
  type: tells.word('What it is.', ['settlement', 'refund', 'transfer', 'deposit', 'fee', 'unexplained']),
  amount: tells.usd('Signed effect on the account, USD.'),
  balance: orNull(
    tells.usd('After the line, USD; null before books_begin, and between the two readings of a derived line.'),
  ),
  payee: tells.text('Merchant, or where a transfer went.'),
  purpose: tells.text(
    'What the money is for; of a purchase what its card was last given money for. Empty where nobody said.',
  ),
  card_id: orNull(tells.text('Card.')),
  mcc: orNull(tells.text('Merchant category code.')),
  country: orNull(tells.text('Country of the merchant.')),
  counter: tells.word('What stands on the other side.', [
    'merchant',
    'wallet',
    'card',
    'deposits',
    'fees',
    'unexplained',
  ]),
  source: tells.word('Who says it.', ['record', 'journal', 'derived']),
} as const;

const ACCOUNT = {
  account: tells.text('Its name.'),
  kind: tells.word('What it is.', ['card', 'wallet']),
  card_id: orNull(tells.text('Card.')),
  opening: orNull(tells.usd('Before, USD; null with books_begin.')),
  lines: tells.rows(LINE, 'In the order of their time.'),
  closing: orNull(tells.usd('After, USD; null with a books_begin at or after the end.')),
  provisional: tells.texts('Why its balances or days may still change; empty where checkpoints show them.'),
  final: tells.yes('Not provisional, nothing of it is pending, and 35 days have passed.'),
  books_begin: maybe(tells.time('Its balances before this are not known.')),
} as const;

const GROUP = {
  group: orNull(tells.text('Account, label or value; null for cards without one.')),
  cards: tells.count('Cards in it.'),
  lines: tells.count('Lines.'),
  opening: orNull(tells.usd('Before, USD; null before books_begin.')),
  deposits: tells.usd('Deposited, USD.'),
  transfers: tells.usd('Between wallet and cards, USD; 0 where both are in it.'),
  settled: tells.usd('Settled, USD, negative.'),
  refunded: tells.usd('Refunded, USD.'),
  fees: tells.usd('Records of types that the interface does not name, USD.'),
  unexplained: tells.usd('Not explained, USD.'),
  closing: orNull(tells.usd('After, USD; null before books_begin.')),
} as const;

const GROUP_COLUMNS = columnsOf(
  GROUP,
  'group cards:4 lines:3 opening deposits:3 transfers:2 settled:2 refunded:2 fees:5+ unexplained:5+ closing',
  { group: { shrink: true } },
);

const COLUMNS = columnsOf(
  { account: ACCOUNT.account, ...LINE },
  'account date type:2 amount balance payee:2 purpose:4 source:4 id:3+',
  { payee: { shrink: true }, purpose: { title: 'FOR', shrink: true } },
);

export const showStatement = command({
  path: 'books statement',
  summary: 'Show what a period did to each card and the wallet',
  answers: {
    one: {
      period: tells.text('As it was asked for.'),
      currency: tells.text('USD.'),
      as_of: tells.time('The copy is of this instant of the service.'),
      provisional: tells.texts('Why balances or days may still change; empty where checkpoints show all of them.'),
      final: tells.yes('Not provisional, nothing is pending, and 35 days have passed.'),
      reconciled: tells.yes('Nothing in provisional. A balanced reconcile alone does not make it so.'),
      books_begin: maybe(tells.time('The first reading, where accounts are not known before it.')),
      data: tells.rows(ACCOUNT, 'Cards and the wallet.'),
      groups: maybe(tells.rows(GROUP, 'With --by: sums of those lines, whose opening and amounts make the closing.')),
    },
  },
  about: [
    'Read from the copy, which is brought up to date first when it is older than --max-age. A card is what it has available and what is held, so a pending authorization is no line. The closing balances go back from the newest exact checkpoint: run books reconcile after the period has ended.',
    'Own moves carry the time of the journal. What others moved is derived from two checkpoints, a deposit from two syncs, and dated at the later one; money of a new card when it was made. What the wallet had at the first is no deposit: it is an opening that nobody knows. Lines between the two have no balance: nobody knows which came first.',
    'Each account is held against every exact checkpoint of the period, and its opening against the one before. What does not fit, or may belong to another period, makes it provisional.',
    '--by adds the lines up: a row a card, a label or a value of metadata. The wallet stays a row of its own.',
  ],
  reach: 'service',
  ends: STATEMENT_ENDS,
  flags: {
    ...STATEMENT_FLAGS,
    by: option(
      takes.text(`Sums in place of lines: ${GROUPED_BY.join(', ')} or metadata.<key>.`),
      '<card|label|metadata.key>',
    ),
  },
  examples: {
    'A month': 'books statement --period 2026-10',
    'What each label cost in a quarter': 'books statement --period 2026-Q3 --by label',
    'Days of one card, as data': 'books statement --period 2026-10-01..2026-10-15 --card card_1 --json',
  },
  run: (ctx, { by: typed, ...asked }) => {
    const by = typed === undefined ? undefined : groupedBy(typed);
    return statementFor(ctx, asked, (statement, as_of) => documentOf(ctx, statement, as_of, by));
  },
  show: document => {
    const { groups } = document;
    const lines = document.data.flatMap(({ account, lines: of }) => of.map(line => ({ account, ...line })));
    const standing = document.reconciled ? (document.final ? 'final' : 'not final yet') : 'provisional';
    const title = `STATEMENT  ${document.period}   ${standing}`;
    return {
      data: document,
      noun: groups === undefined ? 'line' : 'group',
      columns: groups === undefined ? COLUMNS : GROUP_COLUMNS,
      rows: groups === undefined ? { columns: COLUMNS, rows: lines } : { columns: GROUP_COLUMNS, rows: groups },
      blocks: [
        lineBlock(title),
        ...(groups === undefined ? document.data.flatMap(accountBlocks) : tableOf(GROUP_COLUMNS, groups)),
      ],
    };
  },
});

const usd = (amount: number) => toUsd(cents(amount));
const usdOrNull = (amount: number | null) => (amount === null ? null : usd(amount));

function mapped<Name extends string, From, To>(values: Readonly<Record<Name, From>>, as: (value: From) => To) {
  return Object.fromEntries(Object.entries<From>(values).map(([name, value]) => [name, as(value)])) as Record<Name, To>;
}

function groupedBy(typed: string): GroupedBy {
  if ((GROUPED_BY as readonly string[]).includes(typed) || /^metadata\../.test(typed)) return typed as GroupedBy;
  throw usage(`--by takes ${GROUPED_BY.join(', ')} or metadata.<key>, not ${quote(typed)}`);
}

type Named = Pick<StatementAccount, 'card_id' | 'last4' | 'label'>;

/** `Card 4242 ads`, as `reconcile` names it; two cards of one name have their id behind it. */
function namesOf({ cards }: Statement): (account: Named) => string {
  const plain = ({ last4, label }: Named) => ['Card', last4, label].filter(Boolean).join(' ');
  const seen = new Set<string>();
  const shared = new Set(['Card']);
  for (const name of cards.map(plain)) (seen.has(name) ? shared : seen).add(name);
  return card => {
    if (card.card_id === null) return 'Cardwright Wallet';
    const name = plain(card);
    return shared.has(name) ? `${name} ${card.card_id}` : name;
  };
}

function documentOf(ctx: Context, statement: Statement, as_of: string, by: GroupedBy | undefined) {
  const nameOf = namesOf(statement);
  const accounts = [...statement.accounts];
  const { provisional, final } = showStanding(ctx, statement, accounts);
  const data = accounts.map(account => accountAnswer(account, nameOf(account)));
  const groups = by && groupsOf(accounts, by, nameOf).map(groupAnswer);
  const reconciled = provisional.length === 0;
  const head = { period: statement.period.name, currency: ACCOUNT_CURRENCY, as_of, provisional, final, reconciled };
  return { ...head, ...beginOf(statement), data, ...(groups && { groups }) };
}

const beginOf = ({ knownSince }: Pick<StatementAccount, 'knownSince'>) =>
  knownSince === undefined ? {} : { books_begin: isoSeconds(knownSince) };

function accountAnswer(account: StatementAccount, name: string) {
  const { kind, card_id, provisional, final } = account;
  const { opening, closing } = mapped(account.known, usdOrNull);
  const lines = account.lines.map(lineAnswer);
  return { account: name, kind, card_id, opening, lines, closing, provisional, final, ...beginOf(account) };
}

function groupAnswer({ group, cards, lines, ...amounts }: StatementGroup) {
  return { group, cards, lines, ...mapped(amounts, usdOrNull) };
}

function lineAnswer(line: Line) {
  const { at, cents: amount, balance, id, date, type, payee, purpose, card_id, mcc, country, counter, source } = line;
  const amounts = { amount: usd(amount), balance: usdOrNull(balance) };
  return { id, at: isoTime(at), date, type, ...amounts, payee, purpose, card_id, mcc, country, counter, source };
}

/** A person is shown no balance that nobody knows; what is known of it are its lines. */
function accountBlocks({ account, opening, closing, lines }: ReturnType<typeof accountAnswer>): Block[] {
  const isShown = (field: string) =>
    field === 'purpose' ? lines.some(({ purpose }) => purpose !== '') : field !== 'account';
  const columns = COLUMNS.filter(({ field }) => isShown(field));
  const [from, to] = [opening, closing].map(amount => (amount === null ? 'not known' : dollars(toCents(amount))));
  const head = lineBlock(`${account}   ${from} -> ${to}`);
  return [head, ...tableOf(columns, lines)];
}

function tableOf(columns: readonly Column[], rows: readonly Row[]): Block[] {
  return rows.length === 0 ? [] : [tableBlock(columns, rows)];
}
