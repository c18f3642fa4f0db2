/**
 * An account by the rules of the ledger, and what its lists show of it: no partial reversals, no events. Faults of the
 * account or of the view are planted by hand; random steps come from a seed.
 */

import type { OwnNews } from '../../src/books/own-rows.ts';
import { rowName } from '../../src/books/position.ts';
import { type Reconciled, reconcile } from '../../src/books/reconcile.ts';
import { addUp } from '../../src/books/records.ts';
import { type CardRow, type MoveRow, purchaseOf, type TxChangeRow, type TxRow } from '../../src/books/rows.ts';
import type { Cents } from '../../src/core/money.ts';

export interface Card {
  id: string;
  status: 'active' | 'frozen' | 'terminated';
  /** Available. */
  balance: number;
  marker: string | undefined;
}

export interface Authorization {
  id: string;
  card: string;
  amount: number;
  held: number;
  settled: number;
  refunded: number;
  status: 'pending' | 'settled' | 'reversed' | 'expired';
}

export type Random = (below: number) => number;

/** Whole numbers from 0, below what is asked for; the same for the same seed. */
export function randomOf(seed: number): Random {
  let state = (seed * 2654435761 + 0x9e3779b9) >>> 0 || 1;
  return below => {
    state ^= (state << 13) >>> 0;
    state ^= state >>> 17;
    state ^= (state << 5) >>> 0;
    state >>>= 0;
    return state % below;
  };
}

export interface Counting {
  readonly gross?: boolean;
  readonly withHolds?: boolean;
  readonly activeOnly?: boolean;
  /** One changing record a purchase. */
  readonly oneRecord?: boolean;
}

export class Account {
  wallet = 0;
  deposited = 0;
  spent = 0;
  refundedInAll = 0;
  now = 1_800_000_000_000;
  readonly cards = new Map<string, Card>();
  readonly authorizations = new Map<string, Authorization>();
  readonly records = new Map<string, TxRow>();
  readonly moves: MoveRow[] = [];
  /** What other spenders moved from the wallet to a card, less what they moved back. */
  readonly foreign = new Map<string, number>();
  #ids = 0;
  readonly #undone = new Set<string>();
  readonly counting: Counting;

  constructor(counting: Counting = {}) {
    this.counting = counting;
  }

  id(prefix: string): string {
    this.#ids += 1;
    return `${prefix}_${String(this.#ids).padStart(6, '0')}`;
  }

  tick(): void {
    this.now += 1000;
  }

  deposit(amount: number): void {
    this.wallet += amount;
    this.deposited += amount;
  }

  move(
    operation: MoveRow['operation'],
    card: string | null,
    amount: number,
    outcome: MoveRow['outcome'] = 'done',
  ): MoveRow {
    const made: MoveRow = {
      op: this.id('op'),
      row: 1,
      operation,
      card_id: card,
      cents: amount as Cents,
      outcome,
      at_ms: this.now,
    };
    this.moves.push(made);
    return made;
  }

  create(amount: number, { own = true, outcome = 'done' as MoveRow['outcome'] } = {}): Card {
    const card: Card = { id: this.id('card'), status: 'active', balance: amount, marker: undefined };
    this.cards.set(card.id, card);
    this.wallet -= amount;
    if (!own) this.#byOther(card, amount);
    if (own) {
      const { op, row } = this.move('cards.create', outcome === 'done' ? card.id : null, amount, outcome);
      card.marker = `${op}.${row}`;
    }
    return card;
  }

  fund(card: Card, amount: number, { own = true, outcome = 'done' as MoveRow['outcome'] } = {}): void {
    card.balance += amount;
    this.wallet -= amount;
    if (own) this.move('cards.fund', card.id, amount, outcome);
    else this.#byOther(card, amount);
  }

  withdraw(card: Card, amount: number, { own = true } = {}): void {
    card.balance -= amount;
    this.wallet += amount;
    if (own) this.move('cards.withdraw', card.id, amount);
    else this.#byOther(card, -amount);
  }

  terminate(card: Card, { own = true } = {}): void {
    this.wallet += card.balance;
    card.balance = 0;
    card.status = 'terminated';
    if (own) this.move('cards.terminate', card.id, 0);
  }

  /** Somebody says of some rows of unknown outcome what became of them. */
  resolve(random: Random): void {
    for (const [index, move] of this.moves.entries()) {
      if (move.outcome !== 'unknown' || random(2) === 0) continue;
      this.moves[index] = { ...move, outcome: this.#undone.has(move.op) ? 'refused' : 'done' };
    }
  }

  /** A row whose answer never came and that did nothing. */
  nothing(card: string, amount: number): void {
    this.#undone.add(this.move('cards.fund', card, amount, 'unknown').op);
  }

  /** What the card has available, or the wallet once it is terminated. */
  give(card: Card, amount: number): void {
    if (card.status === 'terminated') this.wallet += amount;
    else card.balance += amount;
  }

  record(type: string, card: string, amount: number, over: Partial<TxRow> = {}): TxRow {
    const tx_id = this.id('txn');
    const row: TxRow = {
      tx_id,
      card_id: card,
      type,
      status: type === 'authorization' ? 'pending' : 'completed',
      cents: amount as Cents,
      currency: 'USD',
      merchant: 'SHOP',
      mcc: '5999',
      merchant_country: 'US',
      authorization_id: null,
      decline_reason: null,
      at_ms: this.now,
      created_at: new Date(this.now).toISOString(),
      first_seen: 0,
      gone_at: null,
      ...over,
    };
    this.records.set(tx_id, row);
    return row;
  }

  change(id: string, fields: Partial<TxRow>): void {
    const row = this.records.get(id);
    if (row !== undefined) this.records.set(id, { ...row, ...fields });
  }

  authorize(card: Card, amount: number, over: Partial<TxRow> = {}): Authorization {
    const { tx_id: id } = this.record('authorization', card.id, amount, over);
    const made: Authorization = { id, card: card.id, amount, held: amount, settled: 0, refunded: 0, status: 'pending' };
    this.authorizations.set(id, made);
    card.balance -= amount;
    return made;
  }

  increment(of: Authorization, amount: number): void {
    this.cardOf(of).balance -= amount;
    of.held += amount;
    of.amount += amount;
    if (of.settled > 0 && this.counting.oneRecord) this.#showOne(of);
    else this.change(of.id, { cents: of.amount as Cents });
  }

  settle(of: Authorization, amount: number, isFinal: boolean): string {
    const card = this.cardOf(of);
    const fromHold = Math.min(amount, of.held);
    this.give(card, -(amount - fromHold));
    of.held -= fromHold;
    if (isFinal && of.held > 0) {
      this.give(card, of.held);
      of.held = 0;
    }
    of.settled += amount;
    this.spent += amount;
    of.status = of.held > 0 ? 'pending' : 'settled';
    if (this.counting.oneRecord) {
      this.#showOne(of);
      return of.id;
    }
    this.change(of.id, { status: of.status });
    const { mcc = null, merchant_country = null } = this.records.get(of.id) ?? {};
    return this.record('settlement', of.card, amount, { authorization_id: of.id, mcc, merchant_country }).tx_id;
  }

  /** Without a trace in the lists when it is partial. */
  reverse(of: Authorization, amount: number, ending: 'reversed' | 'expired' = 'reversed'): void {
    of.held -= amount;
    this.give(this.cardOf(of), amount);
    if (of.held > 0) return;
    of.status = of.settled > 0 ? 'settled' : ending;
    if (this.counting.oneRecord) this.#showOne(of);
    else this.change(of.id, { status: of.status });
  }

  forcePost(card: Card, amount: number): string {
    this.give(card, -amount);
    this.spent += amount;
    return this.record('settlement', card.id, amount).tx_id;
  }

  refund(of: Authorization, amount: number): string {
    of.refunded += amount;
    this.spent -= amount;
    this.refundedInAll += amount;
    this.give(this.cardOf(of), amount);
    if (this.counting.oneRecord) {
      this.#showOne(of);
      return of.id;
    }
    return this.record('refund', of.card, amount, { authorization_id: of.id }).tx_id;
  }

  cardOf({ card }: Authorization): Card {
    const found = this.cards.get(card);
    if (found === undefined) throw new RangeError(card);
    return found;
  }

  #byOther({ id }: Card, amount: number): void {
    this.foreign.set(id, (this.foreign.get(id) ?? 0) + amount);
  }

  /** As the dialect `auth-single` shows a purchase. */
  #showOne(of: Authorization): void {
    if (of.settled === 0) {
      this.change(of.id, { status: of.status });
      return;
    }
    const isWhole = of.refunded > 0 && of.refunded === of.settled;
    const amount = isWhole ? of.refunded : of.settled - of.refunded;
    this.change(of.id, {
      type: isWhole ? 'refund' : 'settlement',
      cents: amount as Cents,
      authorization_id: of.id,
      status: of.held > 0 ? 'pending' : 'completed',
    });
  }
}

/** What a reader sees at one instant; faults of the view change it before it is read. */
export interface Shown {
  records: Map<string, TxRow>;
  cards: Map<string, { status: string; balance: number; metadata: string }>;
  wallet: number;
  deposited: number;
  spent: number;
  cardsTotal: number;
}

/** Reads an account again and again, as the mirror does, and reconciles. */
export class Reader {
  readonly #account: Account;
  readonly #known = new Map<string, TxRow>();
  readonly #changes: TxChangeRow[] = [];
  readonly checkpoints: Reconciled[] = [];
  readonly #firstCut = new Map<string, number>();
  readonly #doneCut = new Map<string, number>();
  #base: Reconciled | undefined;
  /** Lies of the service, applied at every reading. */
  readonly lies: ((shown: Shown) => void)[] = [];

  constructor(account: Account) {
    this.#account = account;
  }

  reconcile(options: { soleOperator?: boolean } = {}): Reconciled {
    this.#account.tick();
    const at = this.#account.now;
    const shown = this.#shown();
    for (const lie of this.lies) lie(shown);
    this.#sync(shown, at);
    this.#account.tick();
    const { checkpoint, checkpointCards } = this.#base ?? {};
    const rows = [...this.#known.values()].sort(
      (a, b) => compare(purchaseOf(a), purchaseOf(b)) || a.at_ms - b.at_ms || compare(a.tx_id, b.tx_id),
    );
    const since = checkpoint?.at_ms;
    const ended = new Map([...shown.cards].flatMap(([id, { status }]) => (status === 'terminated' ? [[id, 0]] : [])));
    const changes = this.#changes.filter(change => change.seen > (since ?? Infinity));
    const done = reconcile({
      base:
        checkpoint === undefined || checkpointCards === undefined ? undefined : { checkpoint, cards: checkpointCards },
      checkpointId: `cut_${this.checkpoints.length}`,
      at,
      wallet: {
        at_ms: at,
        balance_cents: shown.wallet as Cents,
        pending_deposits_cents: 0 as Cents,
        total_deposited_cents: shown.deposited as Cents,
        total_spent_cents: shown.spent as Cents,
        cards_active: null,
        cards_total_balance_cents: shown.cardsTotal as Cents,
      },
      cards: [...shown.cards].map(([card_id, { status, balance, metadata }]) =>
        cardRow(card_id, { status, balance, metadata }),
      ),
      records: addUp(rows, { since, changes, ended }),
      moves: this.#account.moves,
      news: this.#news(),
      ...options,
    });
    this.checkpoints.push(done);
    if (done.checkpoint.exact === 1) this.#base = done;
    return done;
  }

  /** As the mirror tells rows that the base did not know, or not as done. */
  #news(): ReadonlyMap<string, OwnNews> {
    const checkpoint = this.checkpoints.length;
    for (const move of this.#account.moves) {
      const name = rowName(move);
      if (!this.#firstCut.has(name)) this.#firstCut.set(name, checkpoint);
      if (move.outcome === 'done' && !this.#doneCut.has(name)) this.#doneCut.set(name, checkpoint);
    }
    const base = this.#base === undefined ? -1 : this.checkpoints.indexOf(this.#base);
    return new Map(
      [...this.#firstCut].flatMap(([name, first]): (readonly [string, OwnNews])[] => {
        if (first > base) return [[name, 'new']];
        const isLate = (this.#doneCut.get(name) ?? base) > base;
        return isLate ? [[name, first === 0 ? 'may_be_in' : 'not_in']] : [];
      }),
    );
  }

  /** Cards as they are shown now. */
  cardRows(): CardRow[] {
    return [...this.#shown().cards].map(([id, card]) => cardRow(id, card));
  }

  #sync(shown: Shown, at: number): void {
    for (const row of shown.records.values()) {
      const known = this.#known.get(row.tx_id);
      const kept = { ...row, first_seen: known?.first_seen ?? at, gone_at: null };
      this.#known.set(row.tx_id, kept);
      if (known === undefined) continue;
      for (const field of ['type', 'status', 'cents', 'card_id', 'authorization_id'] as const) {
        if (known[field] === row[field]) continue;
        this.#changes.push({ tx_id: row.tx_id, field, old: text(known[field]), new: text(row[field]), seen: at });
      }
    }
    for (const [id, row] of this.#known) {
      if (!shown.records.has(id) && row.gone_at === null) this.#known.set(id, { ...row, gone_at: at });
    }
  }

  #shown(): Shown {
    const { cards, authorizations, counting, wallet, deposited, spent, refundedInAll } = this.#account;
    const held = new Map<string, number>();
    for (const { card, held: amount } of authorizations.values()) held.set(card, (held.get(card) ?? 0) + amount);
    let cardsTotal = 0;
    const views: Shown['cards'] = new Map();
    for (const { id, status, balance, marker } of cards.values()) {
      const shownBalance = status === 'terminated' ? 0 : balance + (counting.withHolds ? (held.get(id) ?? 0) : 0);
      if (status !== 'terminated' && (!counting.activeOnly || status === 'active')) cardsTotal += shownBalance;
      views.set(id, {
        status,
        balance: shownBalance,
        metadata: marker === undefined ? '{}' : JSON.stringify({ cardwright: marker }),
      });
    }
    return {
      records: new Map(this.#account.records),
      cards: views,
      wallet,
      deposited,
      spent: counting.gross ? spent + refundedInAll : spent,
      cardsTotal,
    };
  }
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const text = (value: string | number | null) => (value === null ? null : String(value));

function cardRow(
  card_id: string,
  { status, balance, metadata }: { status: string; balance: number; metadata: string },
): CardRow {
  return {
    card_id,
    bin_id: null,
    network: null,
    last4: null,
    label: null,
    status,
    balance_cents: balance as Cents,
    spending_limit_cents: null,
    auto_freeze_cents: null,
    allowed_categories: '[]',
    metadata,
    created_ms: null,
    expires_ms: null,
    first_seen: 0,
    gone_at: null,
  };
}

export interface StepOptions {
  /** Other spenders move money too. */
  readonly others?: boolean;
  /** Partial reversals, which no list shows. */
  readonly partialReversals?: boolean;
  /** Own rows may end unknown. */
  readonly unknownRows?: boolean;
}

/** Some steps of ordinary life. */
export function live(account: Account, random: Random, steps: number, options: StepOptions = {}): void {
  const { others = false, partialReversals = true, unknownRows = false } = options;
  const own = () => !others || random(4) > 0;
  if (account.deposited === 0) account.deposit(1_000_000 + random(1_000_000));
  for (let step = 0; step < steps; step++) {
    account.tick();
    const cards = [...account.cards.values()];
    const open = cards.filter(card => card.status !== 'terminated');
    const card = open[random(Math.max(1, open.length))];
    const kind = random(20);
    if (card === undefined || (kind === 0 && cards.length < 8)) {
      account.create(1_00 + random(200_00), { own: own() });
    } else if (kind === 1) account.deposit(1 + random(500_00));
    else if (kind === 2) {
      const mine = own();
      const isUnknown = mine && unknownRows && random(2) === 0;
      if (isUnknown && random(2) === 0) account.nothing(card.id, 1 + random(90_00));
      else account.fund(card, 1_00 + random(90_00), { own: mine, outcome: isUnknown ? 'unknown' : 'done' });
    } else if (kind === 3 && card.balance > 0) account.withdraw(card, 1 + random(card.balance), { own: own() });
    else if (kind === 4 && random(3) === 0) account.terminate(card, { own: own() });
    else if (kind === 5 && random(2) === 0) card.status = card.status === 'active' ? 'frozen' : 'active';
    else purchase(account, random, { card, cards, partialReversals });
  }
}

const PLACES = [
  { mcc: '5812', merchant_country: 'US' },
  { mcc: '5999', merchant_country: 'DE' },
  { mcc: '5999', merchant_country: 'US' },
];

function purchase(
  account: Account,
  random: Random,
  { card, cards, partialReversals }: { card: Card; cards: Card[]; partialReversals: boolean },
): void {
  const all = [...account.authorizations.values()];
  const pending = all.filter(each => each.status === 'pending');
  const one = pending[random(Math.max(1, pending.length))];
  const any = all[random(Math.max(1, all.length))];
  const kind = random(14);
  if (one === undefined || kind < 4) {
    if (card.balance > 2) account.authorize(card, 1 + random(card.balance), PLACES[random(3)]);
  } else if (kind === 4) {
    if (account.cardOf(one).balance > 2 && account.cardOf(one).status !== 'terminated') {
      account.increment(one, 1 + random(account.cardOf(one).balance));
    }
  } else if (kind === 5 && partialReversals && one.held > 1) account.reverse(one, 1 + random(one.held - 1));
  else if (kind === 6) account.reverse(one, one.held, random(2) === 0 ? 'reversed' : 'expired');
  else if (kind === 7) account.settle(one, one.amount + random(Math.ceil(one.amount / 4) + 1), true);
  else if (kind === 8 && !account.counting.oneRecord)
    account.forcePost(cards[random(cards.length)] ?? card, 1 + random(20_00));
  else if (kind === 9 && any !== undefined) account.settle(any, 1 + random(any.amount), random(2) === 0);
  else if (kind === 10 && any !== undefined && any.settled > any.refunded) {
    account.refund(any, random(2) === 0 ? any.settled - any.refunded : 1 + random(any.settled - any.refunded));
  } else if (one.held > 0) account.settle(one, 1 + random(one.held), random(3) > 0);
}
