import type { Line, Statement, StatementAccount } from '../../books/statement.ts';
import { orNull, tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { cents, dollars, toCents, toUsd } from '../../core/money.ts';
import type { Block, Column } from '../../terminal/view.ts';
import { askedStatement, STATEMENT_FLAGS } from './asked.ts';

const LINE = {
  id: tells.text('Record, own row, or derived; the same for the same cuts.'),
  at: tells.time('When it happened.'),
  date: tells.text('Day in the asked time zone.'),
  type: tells.word('What it is.', ['settlement', 'refund', 'transfer', 'deposit', 'fee', 'unexplained']),
  amount: tells.usd('Signed effect on the account, USD.'),
  balance: tells.usd('After the line, USD.'),
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
  opening: tells.usd('Before, USD.'),
  lines: tells.rows(LINE, 'In the order of their time.'),
  closing: tells.usd('After, USD.'),
} as const;

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
  path: 'statement',
  summary: 'Show what a period did to each card and the wallet',
  answers: {
    one: {
      period: tells.text('As it was asked for.'),
      currency: tells.text('USD.'),
      final: tells.yes('Nothing of it is pending and 35 days have passed.'),
      data: tells.rows(ACCOUNT, 'Cards and the wallet.'),
    },
  },
  about: [
    'Read from the mirror; nothing is sent. A card is what it has available and what is held, so a pending authorization is no line. The closing balances go back from the newest exact cut: run reconcile after the period has ended.',
    'Own moves carry the time of the journal. Deposits and what others moved are derived from two readings and dated at the later one.',
  ],
  reach: 'files',
  ends: {
    check_failed: 'No exact cut stands at or after the end of the period.',
    unreachable: 'There is no mirror of this account yet.',
    not_found: 'The mirror holds no such card.',
  },
  flags: STATEMENT_FLAGS,
  examples: [
    { does: 'A month', run: 'statement --period 2026-10' },
    { does: 'Days of one card, as data', run: 'statement --period 2026-10-01..2026-10-15 --card card_1 --json' },
  ],
  run: async (ctx, asked) => {
    const { displayName } = await import('../../writers/account-names.ts');
    return documentOf(await askedStatement(ctx, asked), displayName);
  },
  show: document => {
    const rows = document.data.flatMap(({ account, lines }) => lines.map(line => ({ account, ...line })));
    return {
      data: document,
      noun: 'line',
      columns: COLUMNS,
      isRecord: true,
      rows: { columns: COLUMNS, rows },
      blocks: [
        { kind: 'line', text: `STATEMENT  ${document.period}   ${document.final ? 'final' : 'not final yet'}` },
        ...document.data.flatMap(accountBlocks),
      ],
    };
  },
});

const usd = (amount: number) => toUsd(cents(amount));

type NameOf = (account: StatementAccount) => string;

function documentOf({ period, final, accounts }: Statement, nameOf: NameOf) {
  const data = accounts.map(account => accountAnswer(account, nameOf(account)));
  return { period: period.name, currency: 'USD', final, data };
}

function accountAnswer({ kind, card_id, opening, lines, closing }: StatementAccount, name: string) {
  const shown = { account: name, kind, card_id };
  return { ...shown, opening: usd(opening), lines: lines.map(lineAnswer), closing: usd(closing) };
}

function lineAnswer({
  at,
  cents: amount,
  balance,
  id,
  date,
  type,
  payee,
  card_id,
  mcc,
  country,
  counter,
  source,
}: Line) {
  const time = new Date(at).toISOString().replace('.000Z', 'Z');
  const amounts = { amount: usd(amount), balance: usd(balance) };
  return { id, at: time, date, type, ...amounts, payee, card_id, mcc, country, counter, source };
}

function accountBlocks({ account, opening, closing, lines }: ReturnType<typeof accountAnswer>): Block[] {
  const columns = COLUMNS.filter(column => column.field !== 'account');
  const span = `${dollars(toCents(opening))} -> ${dollars(toCents(closing))}`;
  const head = { kind: 'line', text: `${account}   ${span}` } as const;
  return lines.length === 0 ? [head] : [head, { kind: 'table', columns, rows: lines }];
}
