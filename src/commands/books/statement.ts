import {
  balancesOf,
  GROUPED_BY,
  type GroupedBy,
  groupsOf,
  type Statement,
  type StatementAccount,
  type StatementGroup,
} from '../../books/statement.ts';
import type { Line } from '../../books/statement-lines.ts';
import { maybe, orNull, tells } from '../../cli/answer-fields.ts';
import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { quote, usage } from '../../cli/parsing/values.ts';
import { ACCOUNT_CURRENCY } from '../../contract/currency.ts';
import { text } from '../../contract/field.ts';
import { isoSeconds } from '../../core/iso-time.ts';
import { cents, dollars, toCents, toUsd } from '../../core/money.ts';
import type { Block, Column } from '../../terminal/view.ts';
import { STATEMENT_ENDS, STATEMENT_FLAGS, showStanding, statementFor } from './statement-query.ts';

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

const UNKNOWN = 'null before books_begin, and at the end of a month between the two readings of a derived line.';

const GROUP = {
  group: orNull(tells.text('Account, month or label; null for cards without a label.')),
  cards: tells.count('Cards in it; of a month those that moved.'),
  lines: tells.count('Lines.'),
  opening: orNull(tells.usd(`Before, USD; ${UNKNOWN}`)),
  deposits: tells.usd('Deposited, USD.'),
  transfers: tells.usd('Between wallet and cards, USD; 0 where both are in it.'),
  settled: tells.usd('Settled, USD, negative.'),
  refunded: tells.usd('Refunded, USD.'),
  fees: tells.usd('Records of types that the interface does not name, USD.'),
  unexplained: tells.usd('Not explained, USD.'),
  closing: orNull(tells.usd(`After, USD; ${UNKNOWN}`)),
} as const;

const GROUP_COLUMNS: readonly Column[] = [
  { field: 'group', title: 'GROUP', kind: 'text', priority: 1, shrink: true },
  { field: 'cards', title: 'CARDS', kind: 'integer', priority: 4 },
  { field: 'lines', title: 'LINES', kind: 'integer', priority: 3 },
  { field: 'opening', title: 'OPENING', kind: 'money', priority: 1 },
  { field: 'deposits', title: 'DEPOSITS', kind: 'money', priority: 3 },
  { field: 'transfers', title: 'TRANSFERS', kind: 'money', priority: 2 },
  { field: 'settled', title: 'SETTLED', kind: 'money', priority: 2 },
  { field: 'refunded', title: 'REFUNDED', kind: 'money', priority: 2 },
  { field: 'fees', title: 'FEES', kind: 'money', priority: 5, wideOnly: true },
  { field: 'unexplained', title: 'UNEXPLAINED', kind: 'money', priority: 5, wideOnly: true },
  { field: 'closing', title: 'CLOSING', kind: 'money', priority: 1 },
];

const COLUMNS: readonly Column[] = [
  { field: 'account', title: 'ACCOUNT', kind: 'text', priority: 1 },
  { field: 'date', title: 'DATE', kind: 'text', priority: 1 },
  { field: 'type', title: 'TYPE', kind: 'word', priority: 2 },
  { field: 'amount', title: 'AMOUNT', kind: 'money', priority: 1 },
  { field: 'balance', title: 'BALANCE', kind: 'money', priority: 1 },
  { field: 'payee', title: 'PAYEE', kind: 'text', priority: 2, shrink: true },
  { field: 'source', title: 'SOURCE', kind: 'word', priority: 4 },
  { field: 'id', title: 'ID', kind: 'id', priority: 3, wideOnly: true },
];

/** What a period did to each card and the wallet, on the posted basis. */
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
      reconciled: tells.yes('It is not provisional.'),
      books_begin: maybe(tells.time('The first reconcile, where accounts are not known before it.')),
      data: tells.rows(ACCOUNT, 'Cards and the wallet.'),
      groups: maybe(tells.rows(GROUP, 'With --by: sums of those lines, whose opening and amounts make the closing.')),
    },
  },
  about: [
    'Read from the copy, which is brought up to date first when it is older than --max-age. A card is what it has available and what is held, so a pending authorization is no line. The closing balances go back from the newest exact checkpoint: run books reconcile after the period has ended.',
    'Own moves carry the time of the journal. Deposits and what others moved are derived from two checkpoints and dated at the later one, money of a new card when it was made. Lines between the two have no balance: nobody knows which came first.',
    'Each account is held against every exact checkpoint of the period, and its opening against the one before. What does not fit, or may belong to another period, makes it provisional.',
    '--by adds the lines up: a row a card, a month, a label or a value of metadata. The wallet stays a row of its own; in a month all accounts are one.',
  ],
  reach: 'service',
  ends: STATEMENT_ENDS,
  flags: {
    ...STATEMENT_FLAGS,
    by: option(
      text({ doc: `Sums in place of lines: ${GROUPED_BY.join(', ')} or metadata.<key>.`, basis: OURS }),
      '<card|month|label|metadata.key>',
    ),
  },
  examples: [
    { does: 'A month', run: 'books statement --period 2026-10' },
    { does: 'What each label cost in a quarter', run: 'books statement --period 2026-Q3 --by label' },
    { does: 'Days of one card, as data', run: 'books statement --period 2026-10-01..2026-10-15 --card card_1 --json' },
  ],
  run: (ctx, { by: typed, ...asked }) => {
    const by = typed === undefined ? undefined : groupedBy(typed);
    return statementFor(ctx, asked, (statement, as_of) =>
      documentOf(ctx, statement, { as_of, by, nameOf: namesOf(statement) }),
    );
  },
  show: document => {
    const { groups } = document;
    const lines = document.data.flatMap(({ account, lines: of }) => of.map(line => ({ account, ...line })));
    const title = `STATEMENT  ${document.period}   ${standing(document)}`;
    return {
      data: document,
      noun: groups === undefined ? 'line' : 'group',
      columns: groups === undefined ? COLUMNS : GROUP_COLUMNS,
      rows: groups === undefined ? { columns: COLUMNS, rows: lines } : { columns: GROUP_COLUMNS, rows: groups },
      blocks: [
        { kind: 'line', text: title },
        ...(groups === undefined ? document.data.flatMap(accountBlocks) : groupBlocks(groups)),
      ],
    };
  },
});

const usd = (amount: number) => toUsd(cents(amount));
const usdOrNull = (amount: number | null) => (amount === null ? null : usd(amount));

function groupedBy(typed: string): GroupedBy {
  if ((GROUPED_BY as readonly string[]).includes(typed) || /^metadata\../.test(typed)) return typed as GroupedBy;
  throw usage(`--by takes ${GROUPED_BY.join(', ')} or metadata.<key>, not ${quote(typed)}`);
}

function standing({
  final,
  provisional,
}: {
  readonly final: boolean;
  readonly provisional: readonly string[];
}): string {
  if (provisional.length > 0) return 'provisional';
  return final ? 'final' : 'not final yet';
}

type NameOf = (account: Named) => string;
type Named = Pick<StatementAccount, 'card_id' | 'last4' | 'label'>;

/** `Card 4242 ads`, as `reconcile` names it; two cards of one name have their id behind it. */
function namesOf({ cards }: Statement): NameOf {
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

interface Telling {
  readonly as_of: string;
  readonly by: GroupedBy | undefined;
  readonly nameOf: NameOf;
}

function documentOf(ctx: Context, statement: Statement, { as_of, by, nameOf }: Telling) {
  const { period, knownSince } = statement;
  const accounts = [...statement.accounts];
  const { provisional, final } = showStanding(ctx, statement, accounts);
  const data = accounts.map(account => accountAnswer(account, { name: nameOf(account), period }));
  const groups = by === undefined ? {} : { groups: groupsOf({ ...statement, accounts }, by, nameOf).map(groupAnswer) };
  const begin = knownSince === undefined ? {} : { books_begin: isoSeconds(knownSince) };
  const reconciled = provisional.length === 0;
  const told = { period: period.name, currency: ACCOUNT_CURRENCY, as_of, provisional, final, reconciled, ...begin };
  return { ...told, data, ...groups };
}

function accountAnswer(
  account: StatementAccount,
  { name, period }: { readonly name: string; readonly period: Statement['period'] },
) {
  const { kind, card_id, lines, provisional, final, knownSince } = account;
  const { opening, closing } = balancesOf(account, period);
  const answers = lines.map(lineAnswer);
  const shown = { account: name, kind, card_id, opening: usdOrNull(opening), lines: answers };
  const begin = knownSince === undefined ? {} : { books_begin: isoSeconds(knownSince) };
  return { ...shown, closing: usdOrNull(closing), provisional, final, ...begin };
}

function groupAnswer({ group, cards, lines, ...amounts }: StatementGroup) {
  const { opening, deposits, transfers, settled, refunded, fees, unexplained, closing } = amounts;
  const moved = { deposits: usd(deposits), transfers: usd(transfers), settled: usd(settled), refunded: usd(refunded) };
  const rare = { fees: usd(fees), unexplained: usd(unexplained) };
  return { group, cards, lines, opening: usdOrNull(opening), ...moved, ...rare, closing: usdOrNull(closing) };
}

function groupBlocks(groups: readonly ReturnType<typeof groupAnswer>[]): Block[] {
  return groups.length === 0 ? [] : [{ kind: 'table', columns: GROUP_COLUMNS, rows: groups }];
}

function lineAnswer(line: Line) {
  const { at, cents: amount, balance, id, date, type, payee, card_id, mcc, country, counter, source } = line;
  const time = new Date(at).toISOString().replace('.000Z', 'Z');
  const amounts = { amount: usd(amount), balance: usdOrNull(balance) };
  return { id, at: time, date, type, ...amounts, payee, card_id, mcc, country, counter, source };
}

/** A person is shown no balance that nobody knows; what is known of it are its lines. */
function accountBlocks({ account, opening, closing, lines }: ReturnType<typeof accountAnswer>): Block[] {
  const columns = COLUMNS.filter(column => column.field !== 'account');
  const [from, to] = [opening, closing].map(amount => (amount === null ? 'not known' : dollars(toCents(amount))));
  const head = { kind: 'line', text: `${account}   ${from} -> ${to}` } as const;
  return lines.length === 0 ? [head] : [head, { kind: 'table', columns, rows: lines }];
}
