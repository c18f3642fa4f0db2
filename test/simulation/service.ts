/**
 * The service of a history: true books (`test/support/card-books.ts`), and what it says of them, in the answers of
 * `test/hostile/answers.ts` and a few of its own. It knows nothing of the program: no marker, no key's form, no journal.
 */
import { SPOKEN } from '../hostile/answers.ts';
import {
  type Answered,
  type BookOptions,
  Books,
  CARD_NUMBER,
  type CardRequest,
  type Effect,
  isWrite,
  refusal,
  requestOf,
  type View,
} from '../support/card-books.ts';
import type { Answer } from '../support/hostile-service.ts';
import type { Reply, Sent } from '../support/simulated/platform.ts';
import { type Process, START, type World } from '../support/simulated/world.ts';

/** What is done, whatever is said. `later`: so many ms after the answer. */
export type Does = 'done' | 'none' | 'later';

/** One request, counted over a whole history among those that change something, that is not answered as it should be. */
export interface Lie {
  /** From 1. */
  readonly nth: number;
  readonly does: Does;
  /** A name of `SAYINGS`. */
  readonly says: string;
  /** Of `later`. */
  readonly ms: number;
}

export interface Settings extends BookOptions {
  readonly walletCents: number;
  /** Whoever finds out what a key is worth is answered "later" where he uses it again. */
  readonly limitsRepeats: boolean;
  /** Keys are forgotten at that request that changes something. 0: never. */
  readonly diesAt: number;
  /** Readings fail for so many ms behind each request that changes something. */
  readonly failing?: { readonly how: 'lost' | '503'; readonly ms: number };
  /** Half of the readings come from a replica that is not behind, so that what was read once may not be read again. */
  readonly replicas?: boolean;
  /** Others who use the account: money that goes to or from the wallet (0), or is spent on a card. */
  readonly others: readonly { readonly at: number; readonly cents: number; readonly card: number }[];
}

/** A request as it arrives. */
export interface Arrived extends CardRequest {
  readonly who: Process;
}

export const API_KEY = 'sk_test_simulated_canary_7f3a91c2';

interface Saying {
  readonly name: string;
  /** Its class in the model of `test/hostile`: `no` is believed where it comes first, so it comes behind nothing that was done. */
  readonly says: string;
  readonly answer: Answer | 'silence';
  readonly only?: readonly string[];
}

/** With another card in the place of its own. */
const asked = ({ card, old, asked: { amount, label } }: View, more: object | undefined): Answered => ({
  status: 201,
  body: { ...(card ?? old), label, balance: amount, ...more },
});

const OWN: readonly Saying[] = [
  { name: 'silence', says: 'lost', answer: 'silence' },
  { name: '201 newest card', says: 'other', answer: view => asked(view, view.newest), only: ['create'] },
  { name: '201 no card', says: 'other', answer: view => asked(view, { id: 'card_99' }), only: ['create'] },
  {
    name: '500 with the key in it',
    says: 'broken',
    answer: {
      status: 500,
      body: { error: 'internal_error', message: `Bearer ${API_KEY} may not use ${CARD_NUMBER}`, code: 500 },
    },
  },
];

export const SAYINGS: ReadonlyMap<string, Saying> = new Map([...SPOKEN, ...OWN].map(each => [each.name, each]));

const LATER: Answered = { ...refusal(429, 'rate_limited'), headers: { 'retry-after': '3600' } };

export class Service {
  books: Books<Arrived>;
  /** Of books that were set back. */
  readonly #earlier: Effect<Arrived>[] = [];
  /** When it was set back last. */
  resetAt = Number.NEGATIVE_INFINITY;
  readonly #world: World;
  readonly #settings: Settings;
  readonly #lies: readonly Lie[];
  readonly #keys = new Set<string>();
  #isHonest = true;
  /** Requests that change something. */
  #changes = 0;
  #changedAt = Number.NEGATIVE_INFINITY;

  constructor(world: World, settings: Settings, lies: readonly Lie[]) {
    this.#world = world;
    this.#settings = settings;
    this.#lies = lies;
    this.books = this.#opened({ ...settings, walletCents: 1_000_000, behind: {} });
  }

  #opened(options: BookOptions): Books<Arrived> {
    const cards = ['long ago 1', 'long ago 2'].map(label => ({ label }));
    return new Books({ ...options, cards }, () => START + this.#world.now);
  }

  /** Since the history has begun. */
  get effects(): readonly Effect<Arrived>[] {
    return [...this.#earlier, ...this.books.effects];
  }

  /** The sandbox is set back: cards and wallet are those of the beginning, keys are forgotten, and ids are given anew. */
  reset(): void {
    this.#earlier.push(...this.books.effects);
    this.books = this.#opened(this.#settings);
    this.resetAt = this.#world.now;
  }

  /** From now on it lies, and its books are those of the history. */
  begin(): void {
    const { books } = this;
    this.#isHonest = false;
    this.#changes = 0;
    books.effects.length = 0;
    books.options = this.#settings;
    books.walletCents = this.#settings.walletCents;
    for (const other of this.#settings.others) this.#world.after(other.at, undefined, () => this.#spend(other));
  }

  #spend({ cents, card: n }: Settings['others'][number]): void {
    const { books } = this;
    const card = n === 0 ? undefined : books.cards.get(`card_${n}`);
    this.#world.happened('somebody else moves money');
    if (n === 0) books.setWallet(Math.max(0, books.walletCents + cents));
    else if (card?.status === 'active' && card.cents + cents >= 0) books.setCard(card, card.status, card.cents + cents);
  }

  /** A request has arrived. */
  take({ method, path, headers, text, who, answer }: Sent): void {
    const request: Arrived = { ...requestOf(method, path, headers['x-idempotency-key'], text), who };
    const { failing } = this.#settings;
    const isFailing = !this.#isHonest && this.#world.now - this.#changedAt < (failing?.ms ?? 0);
    if (headers['authorization'] !== `Bearer ${API_KEY}`) answer(this.#reply(refusal(401, 'unauthorized')));
    else if (isWrite(request.operation)) answer(this.#change(request));
    else if (isFailing)
      answer(this.#reply(refusal(503, 'service_unavailable'), failing?.how === 'lost' ? 'before-headers' : undefined));
    else answer(this.#reply(this.#read(request)));
  }

  #read(request: Arrived): Answered {
    const { books } = this;
    const isCurrent = this.#settings.replicas === true && this.#world.chance.is(0.5);
    const { options } = books;
    if (isCurrent) books.options = { ...options, behind: {} };
    const answered = books.read(request);
    books.options = options;
    return answered;
  }

  #change(request: Arrived): Reply {
    const world = this.#world;
    this.#changes += 1;
    this.#changedAt = world.now;
    if (!this.#isHonest && this.#changes === this.#settings.diesAt) this.books.forgetKeys();
    const isRepeated = request.key !== undefined && this.#keys.has(request.key);
    if (isRepeated) world.happened('a key is repeated');
    this.#keys.add(request.key ?? '');
    if (this.#isHonest && isRepeated && this.#settings.limitsRepeats) return this.#reply(LATER);
    const lie = this.#isHonest ? undefined : this.#lies.find(({ nth }) => nth === this.#changes);
    const { does, says, ms } = lie ?? { does: 'done', says: 'honest', ms: 0 };
    const { answer: said, only } = SAYINGS.get(says) as Saying;
    if (lie !== undefined) {
      world.happened(`says ${says}`);
      world.happened(`does ${does}`);
    }
    const honest = does === 'done' ? this.books.write(request) : refusal(503, 'service_unavailable');
    if (does === 'later') world.after(ms, undefined, () => void this.books.write(request));
    // What cannot be said of this change is not said.
    if (only?.includes(request.operation) === false) return this.#reply(honest, 'before-headers');
    if (said === 'honest') return this.#reply(honest);
    if (said === 'silence') return this.#reply(honest, said);
    if (typeof said === 'function') return this.#reply(said(this.books.view(request, honest)));
    return 'lost' in said ? this.#reply(honest, said.lost) : this.#reply(said);
  }

  #reply({ status, body, text, type, headers }: Answered, kept?: Reply['kept']): Reply {
    const written = text ?? (body === undefined ? '' : JSON.stringify(body));
    const date = new Date(START + this.#world.now).toUTCString();
    const typed = written === '' ? {} : { 'content-type': type ?? 'application/json' };
    return { kept, status, text: written, headers: { date, 'x-request-id': 'req_1', ...typed, ...headers } };
  }
}
