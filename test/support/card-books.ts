/**
 * The books of a card service - cards, wallet and every effect with the request that caused it - and what an honest service does
 * and says by them. Written from the interface; it imports nothing of `src/`, so that it shares no mistake with the program.
 * `hostile-service.ts` lies about them over real HTTP, `test/simulation/service.ts` in simulated time.
 */

export type WriteOperation = 'create' | 'fund' | 'withdraw' | 'terminate' | 'freeze' | 'unfreeze';

/** A card as it was until a moment. */
interface Past {
  readonly until: number;
  readonly status: string;
  readonly cents: number;
}

export interface BookedCard {
  readonly id: string;
  readonly bin_id: string;
  readonly label: string;
  readonly metadata: object;
  readonly created_at: string;
  status: string;
  cents: number;
  /** Oldest first. */
  readonly before: Past[];
}

/** A request as far as the books need it. */
export interface CardRequest {
  readonly method: string;
  /** Below `/v1`, with its query. */
  readonly path: string;
  /** `read` for everything that changes nothing, `details` for card numbers. */
  readonly operation: WriteOperation | 'read' | 'details' | 'unknown';
  readonly card: string | undefined;
  readonly key: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One change of the books. */
export interface Effect<Request> {
  readonly operation: WriteOperation;
  readonly card: string;
  readonly label: string;
  readonly cents: number;
  readonly at: number;
  readonly request: Request;
}

export interface Answered {
  readonly status: number;
  readonly body?: unknown;
  /** Sent in place of a JSON body. */
  readonly text?: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an answer may be made of. */
export interface View {
  readonly operation: WriteOperation;
  /** What an honest service would answer now. */
  readonly honest: Answered;
  /** The card of the request as it is; of a create, the card that was made, if one was. */
  readonly card: Readonly<Record<string, unknown>> | undefined;
  /** A card that was there long before the request, and is not the one it is about. */
  readonly old: Readonly<Record<string, unknown>> | undefined;
  /** The newest card that is not the one it is about. */
  readonly newest: Readonly<Record<string, unknown>> | undefined;
  readonly asked: Readonly<Record<string, unknown>>;
  readonly books: { readonly walletCents: number };
  /** Time of the service, ms. */
  readonly at: number;
}

export type KeyPolicy =
  | 'honoured'
  | 'ignored'
  /** Honoured for so long on the clock of the service. */
  | { readonly forgottenAfterMs: number }
  /** A repeated key is answered with this, whatever became of the first request. */
  | { readonly repeated: Answered };

/** How far each kind of reading is behind the books, ms of the clock of the service. */
export interface Behind {
  /** A new card is not listed before that. */
  readonly listMs?: number;
  /** State and balance of a card that is read, alone or in a list, are so old. */
  readonly cardMs?: number;
  /** How far a card in a list is behind, ms, where that is more than for the card alone. */
  readonly rowMs?: number;
  readonly walletMs?: number;
  /** A new card is not found by its id before that. */
  readonly newMs?: number;
}

export interface BookOptions {
  readonly walletCents?: number;
  readonly keys?: KeyPolicy;
  /** State and money are checked before the key is looked up. */
  readonly checksBeforeKeys?: boolean;
  readonly metadata?: 'everywhere' | 'not-in-lists' | 'nowhere';
  readonly behind?: Behind;
  /** The list of cards, and each card alone, answer 503. */
  readonly cardsAway?: boolean;
  readonly ignoresFilters?: boolean;
  /** Lists tell page and total; a bare array otherwise. */
  readonly totals?: boolean;
  /** The total of a list counts cards that its rows do not show yet. */
  readonly totalsAhead?: boolean;
  readonly cards?: readonly Partial<BookedCard>[];
}

const LONG_AGO = '2026-01-15T08:00:00Z';
export const CARD_NUMBER = '4000000000000002';

const ROUTES: readonly (readonly [RegExp, CardRequest['operation']])[] = [
  [/^POST \/cards$/, 'create'],
  [/^POST \/cards\/([^/]+)\/fund$/, 'fund'],
  [/^POST \/cards\/([^/]+)\/withdraw$/, 'withdraw'],
  [/^POST \/cards\/([^/]+)\/terminate$/, 'terminate'],
  [/^DELETE \/cards\/([^/]+)$/, 'terminate'],
  [/^POST \/cards\/([^/]+)\/freeze$/, 'freeze'],
  [/^POST \/cards\/([^/]+)\/unfreeze$/, 'unfreeze'],
  [/^GET \/cards\/([^/]+)\/details$/, 'details'],
  [/^GET (?:\/cards\/([^/]+))?/, 'read'],
];

/** A request as it came: its address with `/v1` and query. */
export function requestOf(method: string, url: string, key: string | undefined, text: string): CardRequest {
  const path = url.replace(/^\/v1/, '');
  for (const [pattern, operation] of ROUTES) {
    const match = pattern.exec(`${method} ${path.split('?')[0]}`);
    if (match !== null) return { method, path, operation, card: match[1], key, body: parsed(text) };
  }
  return { method, path, operation: 'unknown', card: undefined, key, body: parsed(text) };
}

export const isWrite = (operation: CardRequest['operation']): operation is WriteOperation =>
  operation !== 'read' && operation !== 'details' && operation !== 'unknown';

function parsed(text: string): Readonly<Record<string, unknown>> {
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The four fields of an error, interface 2.7. */
export function errorBody(code: number, error: string) {
  return { error, message: `no: ${error}`, code, request_id: 'req_hostile' };
}

export function refusal(status: number, error: string): Answered {
  return { status, body: errorBody(status, error) };
}

const inCents = (amount: unknown) => Math.round(Number(amount) * 100);
const inDollars = (cents: number) => cents / 100;

/** The account of one key, exact to the cent. */
export class Books<Request extends CardRequest> {
  walletCents: number;
  /** What the wallet held before. */
  readonly wallets: { readonly until: number; readonly cents: number }[] = [];
  readonly cards = new Map<string, BookedCard>();
  readonly effects: Effect<Request>[] = [];
  options: BookOptions;
  readonly #now: () => number;
  readonly #answers = new Map<string, { readonly answer: Answered; readonly at: number }>();

  /** `now` is the clock of the service, ms since 1970: age of keys, dates of cards, readings that are behind. */
  constructor(options: BookOptions, now: () => number) {
    this.options = options;
    this.walletCents = options.walletCents ?? 100_000;
    this.#now = now;
    for (const card of options.cards ?? []) this.#add({ created_at: LONG_AGO, cents: 10_000, ...card });
  }

  #add(given: Partial<BookedCard>): BookedCard {
    const id = `card_${this.cards.size + 1}`;
    const blank = { id, bin_id: 'bin_1', label: '', metadata: {}, created_at: LONG_AGO, status: 'active', cents: 0 };
    const card = { ...blank, ...given, before: [] };
    this.cards.set(card.id, card);
    return card;
  }

  /** Does what is asked: once for a key, as far as keys are kept. `at`: when it happens. */
  write(request: Request, at = this.#now()): Answered {
    const { keys = 'honoured', checksBeforeKeys = false } = this.options;
    const objection = checksBeforeKeys ? this.#objectionTo(request) : undefined;
    if (objection !== undefined) return objection;
    const id = `${request.method} ${request.path} ${request.key}`;
    const known = request.key === undefined || keys === 'ignored' ? undefined : this.#answers.get(id);
    const isForgotten = known !== undefined && isOver(keys, at - known.at);
    if (known !== undefined && !isForgotten)
      return typeof keys === 'object' && 'repeated' in keys ? keys.repeated : known.answer;
    const answer = this.#objectionTo(request) ?? this.#execute(request, at);
    this.#answers.set(id, { answer, at });
    return answer;
  }

  /** The instance that knew them is gone. */
  forgetKeys(): void {
    this.#answers.clear();
  }

  /** Why an honest service would refuse it now. */
  #objectionTo({ operation, body, card: id }: Request): Answered | undefined {
    const cents = inCents(body['amount']);
    if (operation === 'create') {
      if (body['bin_id'] !== 'bin_1') return refusal(404, 'bin_not_found');
      return this.walletCents < cents ? refusal(400, 'insufficient_funds') : undefined;
    }
    const card = this.cards.get(id ?? '');
    if (card === undefined) return refusal(404, 'not_found');
    if (card.status === 'terminated') return refusal(409, 'card_terminated');
    if (operation === 'fund' && this.walletCents < cents) return refusal(400, 'insufficient_funds');
    if (operation === 'withdraw' && card.cents < cents) return refusal(400, 'insufficient_card_funds');
    if (operation === 'freeze' && card.status === 'frozen') return refusal(409, 'card_already_frozen');
    if (operation === 'unfreeze' && card.status === 'active') return refusal(409, 'card_not_frozen');
    return undefined;
  }

  /** Changes the books; nothing objects any more. */
  #execute(request: Request, at: number): Answered {
    const { body } = request;
    const operation = request.operation as WriteOperation;
    const cents = inCents(body['amount']);
    const note = (of: BookedCard, amount: number) =>
      this.effects.push({ operation, card: of.id, label: of.label, cents: amount, at, request });
    if (operation === 'create') {
      const { bin_id, label = '', metadata = {} } = body as Partial<BookedCard>;
      const created_at = new Date(at).toISOString();
      const card = this.#add({ bin_id: String(bin_id), label, metadata, created_at, cents });
      this.setWallet(this.walletCents - cents, at);
      note(card, cents);
      return { status: 201, body: this.#shown(card, 'alone') };
    }
    const card = this.cards.get(request.card ?? '') as BookedCard;
    if (operation === 'fund' || operation === 'withdraw') {
      const moved = operation === 'fund' ? cents : -cents;
      this.setCard(card, card.status, card.cents + moved, at);
      this.setWallet(this.walletCents - moved, at);
      note(card, cents);
      const balances = { card_balance: inDollars(card.cents), wallet_balance: inDollars(this.walletCents) };
      return { status: 200, body: { card_id: card.id, amount: inDollars(cents), ...balances } };
    }
    const freed = operation === 'terminate' ? card.cents : 0;
    const status = { terminate: 'terminated', freeze: 'frozen', unfreeze: 'active' }[operation];
    this.setCard(card, status, card.cents - freed, at);
    if (freed > 0) this.setWallet(this.walletCents + freed, at);
    note(card, freed);
    return { status: 200, body: this.#shown(card, 'alone') };
  }

  setCard(card: BookedCard, status: string, cents: number, at = this.#now()): void {
    card.before.push({ until: at, status: card.status, cents: card.cents });
    card.status = status;
    card.cents = cents;
  }

  setWallet(cents: number, at = this.#now()): void {
    this.wallets.push({ until: at, cents: this.walletCents });
    this.walletCents = cents;
  }

  /** What is read, as far as readings are behind. */
  read({ method, path, operation, card: id }: Request): Answered {
    const { behind = {}, cardsAway = false } = this.options;
    const at = this.#now();
    if (id !== undefined) {
      const card = this.cards.get(id);
      const isTooNew = card !== undefined && Date.parse(card.created_at) > at - (behind.newMs ?? 0);
      if (card === undefined || isTooNew) return refusal(404, 'not_found');
      if (operation === 'details') return { status: 200, body: detailsOf(card) };
      return { status: 200, body: this.#shown(card, 'alone', behind.cardMs) };
    }
    const url = new URL(path, 'http://localhost');
    switch (`${method} ${url.pathname}`) {
      case 'GET /bins':
        return { status: 200, body: { data: [{ id: 'bin_1', network: 'visa', '3ds': true, max_monthly: 10_000 }] } };
      case 'GET /wallet': {
        const { cents } = pastOf(this.wallets, at, behind.walletMs) ?? { cents: this.walletCents };
        return { status: 200, body: { balance: inDollars(cents), currency: 'USD' } };
      }
      case 'GET /cards':
        return cardsAway ? { status: 503 } : this.#list(url.searchParams, at);
      case 'GET /wallet/deposit-addresses':
      case 'GET /transactions':
      case 'GET /webhooks':
      case 'GET /3ds/challenges':
        return { status: 200, body: { data: [] } };
      default:
        return refusal(404, 'route_not_found');
    }
  }

  #list(query: URLSearchParams, at: number): Answered {
    const { behind = {}, ignoresFilters = false, totals = true, totalsAhead = false } = this.options;
    const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 25)];
    const asks = (name: string) => (ignoresFilters ? null : query.get(name));
    const fitting = [...this.cards.values()]
      .filter(({ created_at }) => Date.parse(created_at) <= at - (behind.listMs ?? 0))
      .map(card => this.#shown(card, 'in a list', behind.rowMs ?? behind.cardMs))
      .toReversed()
      .filter(({ status }) => (asks('status') ?? status) === status)
      .filter(({ bin_id }) => (asks('bin_id') ?? bin_id) === bin_id);
    const data = fitting.slice((page - 1) * size, page * size);
    if (!totals) return { status: 200, body: data };
    const total = totalsAhead ? this.cards.size : fitting.length;
    const total_pages = Math.max(1, Math.ceil(total / size));
    return { status: 200, body: { data, page, per_page: size, total, total_pages } };
  }

  /** What an answer to a write may be made of; `honest` is what is true. */
  view(request: Request, honest: Answered): View {
    const made = this.effects.findLast(effect => effect.request === request)?.card;
    const own = this.cards.get(request.operation === 'create' ? (made ?? '') : (request.card ?? ''));
    const others = [...this.cards.values()].filter(card => card !== own);
    const shown = (card: BookedCard | undefined) => card && this.#shown(card, 'alone');
    return {
      operation: request.operation as WriteOperation,
      honest,
      card: shown(own),
      old: shown(others.find(({ created_at }) => created_at === LONG_AGO)),
      newest: shown(others.at(-1)),
      asked: request.body,
      books: this,
      at: this.#now(),
    };
  }

  #shown(card: BookedCard, place: 'alone' | 'in a list', behindMs?: number) {
    const { metadata = 'everywhere' } = this.options;
    const { status, cents } = pastOf(card.before, this.#now(), behindMs) ?? card;
    const isTold = metadata === 'everywhere' || (metadata === 'not-in-lists' && place === 'alone');
    return {
      id: card.id,
      bin_id: card.bin_id,
      network: 'visa',
      last4: CARD_NUMBER.slice(-4),
      status,
      balance: inDollars(cents),
      spending_limit: 10_000,
      label: card.label,
      allowed_categories: [],
      auto_freeze_at: null,
      ...(isTold ? { metadata: card.metadata } : {}),
      created_at: card.created_at,
      expires_at: '2029-12-31T23:59:59Z',
    };
  }
}

const isOver = (keys: KeyPolicy, age: number) =>
  typeof keys === 'object' && 'forgottenAfterMs' in keys && age > keys.forgottenAfterMs;

/** What was so that long ago; undefined where nothing has changed since. */
const pastOf = <P extends { readonly until: number }>(past: readonly P[], at: number, behindMs = 0) =>
  behindMs > 0 ? past.find(({ until }) => until > at - behindMs) : undefined;

const detailsOf = (card: BookedCard) => ({
  card_id: card.id,
  pan: CARD_NUMBER,
  cvv: '123',
  exp_month: 12,
  exp_year: 2029,
});
