/**
 * A service that never stands still: between any two requests purchases are made, incremented, reversed, settled, refunded
 * and expire, cards are made and terminated, records are deleted or dated back. It speaks the interface of reading alone.
 */
import type { Reader } from '../../src/contract/service.ts';
import { CliError } from '../../src/core/errors.ts';

export interface Record {
  id: string;
  card_id: string;
  type: 'authorization' | 'settlement' | 'refund' | 'decline';
  status: string;
  /** Cents. */
  cents: number;
  merchant: string;
  authorization_id: string | null;
  /** ms. */
  at: number;
}

interface Card {
  id: string;
  status: 'active' | 'frozen' | 'terminated';
  cents: number;
  label: string;
  at: number;
  metadata?: { readonly [key: string]: string };
}

export interface Manners {
  readonly totals?: boolean;
  readonly filters?: boolean;
  readonly order?: 'newest' | 'any';
  readonly deletes?: boolean;
  readonly backdates?: boolean;
  /** Every fifth record is in euros, and no total of dollars has it. */
  readonly otherCurrencies?: boolean;
  /** Behind the end of a span: excluded. */
  readonly endsExcluded?: boolean;
  /** Steps between two requests while it moves. */
  readonly steps?: number;
}

const HOUR = 3_600_000;

/** Numbers in [0, 1) that follow from a seed. */
export function chances(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export class MovingService {
  now = Date.parse('2026-11-20T14:03:11Z');
  readonly records: Record[] = [];
  readonly cards: Card[] = [];
  requests = 0;
  /** While true it moves between any two requests. */
  moves = true;
  /** Throws in place of the answer to this request, once. */
  failAt = Number.POSITIVE_INFINITY;
  readonly #chance: () => number;
  readonly #manners: Manners;
  #last = 0;

  constructor(seed: number, manners: Manners = {}) {
    this.#chance = chances(seed);
    this.#manners = manners;
  }

  /** Lets it live for a time before anybody looks. */
  live(steps: number, msEach: number): void {
    for (let step = 0; step < steps; step += 1) {
      this.now += Math.floor(this.#chance() * msEach * 2);
      this.#step();
    }
  }

  get reader(): Reader {
    return {
      read: async (operation: string, input: object) =>
        this.#answer(operation, input as globalThis.Record<string, unknown>),
      pages: () => {
        throw new Error('a sync asks for each page itself');
      },
    } as unknown as Reader;
  }

  /** What a true copy holds, one line a record. */
  truth(): string[] {
    return this.records.map(({ id, type, status, cents, at }) => [id, type, status, cents, at].join(' ')).sort();
  }

  #answer(operation: string, input: globalThis.Record<string, unknown>): unknown {
    this.requests += 1;
    this.now += 20 + Math.floor(this.#chance() * 400);
    if (this.moves) for (let left = this.#manners.steps ?? 1; left > 0; left -= 1) this.#step();
    if (this.requests === this.failAt) throw new CliError('unreachable', { message: 'cut off' });
    if (operation === 'wallet.get') return this.#wallet();
    if (operation === 'cards.list') return this.#cardPage(input);
    if (operation === 'cards.get') return this.#card(String(input['card_id']));
    if (operation === 'transactions.list') return this.#transactionPage(input);
    throw new Error(`a sync does not ask for ${operation}`);
  }

  #wallet() {
    const open = this.cards.filter(({ status }) => status !== 'terminated');
    const spent = this.records.reduce(
      (sum, { id, type, cents }) =>
        sum + (this.#currencyOf(id) !== 'USD' ? 0 : type === 'settlement' ? cents : type === 'refund' ? -cents : 0),
      0,
    );
    return {
      balance: 1000,
      currency: 'USD',
      pending_deposits: 0,
      total_deposited: 5000,
      total_spent: spent / 100,
      cards_active: open.filter(({ status }) => status === 'active').length,
      cards_total_balance: open.reduce((sum, { cents }) => sum + cents, 0) / 100,
    };
  }

  #card(id: string) {
    const card = this.cards.find(each => each.id === id);
    if (card === undefined) throw new CliError('not_found', { message: 'no such card' });
    const { status, cents, label, at, metadata = {} } = card;
    const times = { created_at: new Date(at).toISOString(), expires_at: '2029-11-30T23:59:59Z' };
    return {
      id,
      bin_id: 'bin_1',
      network: 'visa',
      last4: '4242',
      status,
      balance: cents / 100,
      label,
      metadata,
      ...times,
    };
  }

  #cardPage(input: globalThis.Record<string, unknown>) {
    const status = input['status'];
    const found = this.cards.filter(each => status === undefined || each.status === status);
    const perPage = Number(input['per_page'] ?? 25);
    return this.#page(found.toReversed(), ({ id }) => this.#card(id), { page: Number(input['page'] ?? 1), perPage });
  }

  #transactionPage(input: globalThis.Record<string, unknown>) {
    const { filters = true, endsExcluded = false, order = 'newest' } = this.#manners;
    const [from, to] = ['from', 'to'].map(name => Date.parse(String(input[name] ?? '')));
    const isIn = ({ at, type }: Record) =>
      !(at < (from ?? 0)) &&
      !(at > (to ?? 0)) &&
      !(endsExcluded && at === to) &&
      (input['type'] === undefined || input['type'] === type);
    const found = filters ? this.records.filter(isIn) : [...this.records];
    if (order === 'newest') found.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
    else found.sort((a, b) => (a.id.slice(-1) + a.id < b.id.slice(-1) + b.id ? -1 : 1));
    const shown = ({ at, cents, ...rest }: Record) => ({
      ...rest,
      amount: cents / 100,
      currency: this.#currencyOf(rest.id),
      created_at: new Date(at).toISOString(),
    });
    return this.#page(found, shown, { page: Number(input['page'] ?? 1), perPage: 25 });
  }

  #currencyOf(id: string): string {
    return this.#manners.otherCurrencies && Number(id.slice(-6)) % 5 === 0 ? 'EUR' : 'USD';
  }

  #page<Row>(rows: readonly Row[], shown: (row: Row) => object, { page, perPage }: { page: number; perPage: number }) {
    const data = rows.slice((page - 1) * perPage, page * perPage).map(shown);
    const { totals = true } = this.#manners;
    const has_more = page * perPage < rows.length;
    return {
      data,
      page: totals
        ? { page, per_page: perPage, total: rows.length, total_pages: Math.ceil(rows.length / perPage) }
        : { has_more },
    };
  }

  #add(fields: Omit<Record, 'id' | 'at'>, at = this.now): void {
    this.#last += 1;
    this.records.push({ id: `txn_${String(this.#last).padStart(6, '0')}`, at, ...fields });
  }

  #pick<T>(of: readonly T[]): T | undefined {
    return of[Math.floor(this.#chance() * of.length)];
  }

  #step(): void {
    const dice = this.#chance();
    const { deletes = false, backdates = false } = this.#manners;
    const card = this.#pick(this.cards.filter(({ status }) => status === 'active'));
    if (this.cards.length < 3 || dice < 0.02) this.#makeCard();
    else if (dice < 0.04 && card !== undefined) card.status = dice < 0.03 ? 'frozen' : 'terminated';
    else if (dice < 0.5 && card !== undefined) this.#authorize(card, backdates && dice < 0.06);
    else if (deletes && dice > 0.97) this.#remove();
    else this.#change(dice);
  }

  #authorize(card: Card, isDatedBack: boolean): void {
    const cents = 100 + Math.floor(this.#chance() * 9_000);
    const merchant = `SHOP ${Math.floor(this.#chance() * 40)}`;
    card.cents -= cents;
    const at = isDatedBack ? this.now - Math.floor(this.#chance() * 40 * 24 * HOUR) : this.now;
    this.#add(
      { card_id: card.id, merchant, authorization_id: null, cents, type: 'authorization', status: 'pending' },
      at,
    );
  }

  #makeCard(): void {
    const at = this.now - (this.cards.length === 0 ? HOUR : 0);
    this.cards.push({ id: `card_${this.cards.length + 1}`, status: 'active', cents: 50_000, label: 'ads', at });
  }

  #remove(): void {
    const gone = this.#pick(this.records);
    if (gone !== undefined) this.records.splice(this.records.indexOf(gone), 1);
  }

  #change(dice: number): void {
    const isLate = dice > 0.93;
    const fits = ({ type, status }: Record) =>
      type === 'authorization' && (isLate ? status === 'expired' || status === 'reversed' : status === 'pending');
    const found = this.#pick(this.records.filter(fits));
    if (found === undefined) return;
    const { card_id, merchant, cents } = found;
    if (dice < 0.58) found.cents += 500;
    else if (dice < 0.63) found.status = 'reversed';
    else if (dice < 0.68) found.status = 'expired';
    else {
      found.status = 'settled';
      this.#add({ card_id, merchant, cents, type: 'settlement', status: 'completed', authorization_id: found.id });
      if (dice < 0.72)
        this.#add({ card_id, merchant, cents, type: 'refund', status: 'completed', authorization_id: found.id });
    }
  }
}
