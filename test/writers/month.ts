/** A statement of a simulated life with hostile names, and the balances it must close with. */

import { WallClock } from '../../src/books/period.ts';
import { isPending } from '../../src/books/records.ts';
import type { TxRow } from '../../src/books/rows.ts';
import { type Statement, type StatementAccount, statementOf } from '../../src/books/statement.ts';
import type { StatementRecords } from '../../src/books/statement-lines.ts';
import { Account, type Card, live, Reader, randomOf } from '../books/model.ts';

const HOSTILE_NAMES = [
  'CAFÉ "CENTRAL"',
  "O'Reilly; rm -rf /",
  'A&B <Shop> & Söhne',
  'TAB\tSHOP',
  '=SUM(A1)',
  '@here|there',
  'back\\slash "quoted"',
  'two\nlines\r\n; comment',
  '* ! (code) {note}',
  '\u202eright to left',
  '小さな店',
  '  spaces  ',
];

const DAY = 86_400_000;

/**
 * Statement of everything that happened in about so many steps, what `plant` does at the end with it; cents of each account
 * by card id, `wallet` for the wallet.
 */
export function simulated(seed: number, steps: number, plant: (account: Account) => void = () => {}, stepMs = 1000) {
  const random = randomOf(seed);
  const account = new WatchedAccount(stepMs);
  const reader = new Reader(account);
  const start = account.now;
  // The books begin before anything is there, so that every balance is known.
  reader.reconcile();
  account.deposit(5_000_00);
  for (let part = 0; part < 3; part++) {
    live(account, random, Math.ceil(steps / 3), { partialReversals: false, others: part === 1 });
    reader.reconcile();
  }
  let named = 0;
  for (const [id, row] of account.records) {
    account.change(id, { merchant: HOSTILE_NAMES[named % HOSTILE_NAMES.length] ?? null });
    if (row.authorization_id === null) named += 1;
  }
  // Whole days, so that the period ends at a midnight.
  account.now = Math.ceil(account.now / DAY) * DAY;
  const to = account.now;
  plant(account);
  const last = reader.reconcile();
  const exact = reader.checkpoints
    .filter(({ checkpoint }) => checkpoint.exact === 1)
    .map(({ checkpoint, checkpointCards }) => ({ checkpoint, cards: checkpointCards }));
  const clock = new WallClock('UTC');
  const period = { name: 'all', from: Math.floor(start / DAY) * DAY, to };
  const at = last.checkpoint.at_ms;
  const records = recordsOf([...account.records.values()].map(row => ({ ...row, first_seen: at })));
  const cards = reader.cardRows().map((card, index) => ({
    ...card,
    last4: String(1000 + index),
    label: 'ads; "x"',
    created_ms: account.created.get(card.card_id) ?? null,
  }));
  const unproved =
    last.checkpoint.exact === 1 ? {} : { unproved: { checkpoint: last.checkpoint, cards: last.checkpointCards } };
  const input = {
    ...unproved,
    period,
    clock,
    now: at,
    checkpoints: exact,
    cards,
    records,
    moves: account.moves,
    deposits: [],
  };
  const expected = postedBalances(account);
  account.note();
  const { history } = account;
  return { input, statement: kept(statementOf(input)), expected, verdict: last.verdict, history };
}

/** Keeps what each account had at the end of every instant. */
class WatchedAccount extends Account {
  readonly history = new Map<number, ReadonlyMap<string, number>>();
  readonly created = new Map<string, number>();
  readonly #stepMs: number;

  constructor(stepMs: number) {
    super();
    this.#stepMs = stepMs;
  }

  override tick(): void {
    this.note();
    this.now += this.#stepMs;
  }

  override create(amount: number, by?: Parameters<Account['create']>[1]): Card {
    const card = super.create(amount, by);
    this.created.set(card.id, this.now);
    return card;
  }

  note(): void {
    this.history.set(this.now, postedBalances(this));
  }
}

/** Cents by card id, with what is held; `wallet` for the wallet. */
function postedBalances(account: Account): Map<string, number> {
  const posted = new Map<string, number>([['wallet', account.wallet]]);
  for (const card of account.cards.values()) posted.set(card.id, card.balance);
  for (const { card, held } of account.authorizations.values()) posted.set(card, (posted.get(card) ?? 0) + held);
  return posted;
}

/** Records as a copy delivers them. */
function recordsOf(rows: readonly TxRow[]): StatementRecords {
  return {
    of: cards =>
      cards.map(card => [
        card,
        rows.filter(row => row.card_id === card.card_id && ['settlement', 'refund'].includes(row.type)),
      ]),
    mayHold: (card, { since, end }) =>
      rows.some(
        ({ card_id, type, status, at_ms }) =>
          card_id === card && type === 'authorization' && status !== 'settled' && at_ms > since && at_ms <= end,
      ),
    unknownTypes: [],
    pendingCards: new Set(rows.flatMap(row => (isPending(row) && row.card_id !== null ? [row.card_id] : []))),
  };
}

export type KeptStatement = Statement & { readonly accounts: readonly StatementAccount[] };

/** With its accounts in memory. */
export function kept(statement: Statement): KeptStatement {
  return { ...statement, accounts: [...statement.accounts] };
}

/** The same statement with a cent more on one line: what a judge must refuse. */
export function withACentMore(statement: KeptStatement): KeptStatement {
  let changed = false;
  const accounts = statement.accounts.map(account => {
    if (changed || account.lines.length === 0 || account.kind === 'wallet') return account;
    changed = true;
    return {
      ...account,
      lines: account.lines.map((line, at) => (at === 0 ? { ...line, cents: line.cents + 1 } : line)),
    };
  });
  return { ...statement, accounts };
}
