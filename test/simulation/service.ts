/**
 * A card service with true books, written from the interface. What it does and what it says are two things. It knows nothing
 * of the program: no marker, no key's form, no journal.
 */
import { type Process, START, type World } from './world.ts';

export type Change = 'create' | 'fund' | 'withdraw' | 'freeze' | 'unfreeze' | 'terminate';

/** What is done, whatever is said. `later`: so many ms after the answer. */
export type Does = 'done' | 'none' | 'later';

/** One request, counted over a whole history among those that change something, that is not answered as it should be. */
export interface Lie {
  /** From 1. */
  readonly nth: number;
  readonly does: Does;
  readonly says: Saying;
  /** Of `later`. */
  readonly ms: number;
}

export interface Settings {
  /** Cents. */
  readonly wallet: number;
  /** ms that a key is honoured for; 0: ignored; null: for ever. */
  readonly keysMs: number | null;
  /** Whoever finds out what a key is worth is told "later" where he uses it again. */
  readonly limitsRepeats: boolean;
  /** Keys are forgotten at that request that changes something: the instance that knew them is gone. 0: never. */
  readonly diesAt: number;
  /** A repeated key is answered with this status in place of the first answer. */
  readonly repeated: 0 | 409 | 422;
  /** How old what is read may be, ms. */
  readonly behind: { readonly list: number; readonly card: number; readonly wallet: number; readonly fresh: number };
  readonly ignoresFilters: boolean;
  readonly metadata: 'everywhere' | 'not in lists' | 'nowhere';
  readonly totals: boolean;
  /** The total of a list counts cards that its rows do not show yet. */
  readonly totalsAhead?: boolean;
  /** Readings fail for so many ms behind each request that changes something. */
  readonly failing?: { readonly how: 'lost' | '503'; readonly ms: number };
  /** Others who use the account: money that goes to or from the wallet, or is spent on a card. */
  readonly others: readonly { readonly at: number; readonly cents: number; readonly card: number }[];
}

export interface Card {
  readonly id: string;
  readonly label: string;
  readonly metadata: object;
  readonly createdAt: number;
  status: 'active' | 'frozen' | 'terminated';
  cents: number;
  /** Newest last. */
  readonly before: { readonly until: number; readonly status: Card['status']; readonly cents: number }[];
}

/** A change of the books. */
export interface Effect {
  readonly change: Change;
  readonly card: string;
  readonly cents: number;
  readonly at: number;
  /** How often the sandbox had been set back by then. */
  readonly epoch: number;
  /** The process whose request did it. */
  readonly who: Process;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What comes back over the wire, unless it is kept from coming. */
export interface Reply {
  readonly kept?: 'lost' | 'cut' | 'silent' | undefined;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A request as it arrives. */
interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly who: Process;
  answer(reply: Reply): void;
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly change: Change | undefined;
  readonly card: string;
  readonly who: Process;
}

interface View {
  readonly honest: Answer;
  readonly card: object | undefined;
  readonly other: object | undefined;
  readonly newest: object | undefined;
  readonly request: Request;
  readonly wallet: number;
}

export const API_KEY = 'sk_test_simulated_canary_7f3a91c2';
export const CARD_NUMBER = '4000000000000002';

const refused = (status: number, error: string, more: object = {}): Answer => ({
  status,
  body: { error, message: `no: ${error}`, code: status, request_id: 'req_said', ...more },
});
const limited = (seconds: number): Answer => ({
  ...refused(429, 'rate_limited'),
  headers: { 'retry-after': String(seconds) },
});
const shownAs = (view: View, more: object): Answer => ({
  status: 200,
  body: { ...(view.card ?? view.other), ...(view.request.change === 'create' ? view.request.body : {}), ...more },
});
const moved = (view: View, more: object, as: 0 | 1 = 0): Answer => {
  const { request, wallet } = view;
  const balance = (view.card as { balance?: number } | undefined)?.balance ?? 0;
  const amount = request.body['amount'];
  // `as`: as if the amount had moved once more.
  const cents = as * centsOf(amount) * (request.change === 'fund' ? 1 : -1);
  const balances = { card_balance: (centsOf(balance) + cents) / 100, wallet_balance: (wallet - cents) / 100 };
  return { status: 200, body: { card_id: request.card, amount, ...balances, ...more } };
};

type Says = Answer | NonNullable<Reply['kept']> | ((view: View) => Answer);

/** What may be said in place of the honest answer. A definite no in words of the interface is told of what was not done alone. */
const SAYINGS = {
  honest: view => view.honest,
  lost: 'lost',
  'cut in its body': 'cut',
  silence: 'silent',
  '200 failed': { status: 200, body: { status: 'failed' } },
  '200 success false': { status: 200, body: { success: false, message: 'no' } },
  '200 error body': { status: 200, body: { error: 'declined', message: 'no', code: 400, request_id: 'req_said' } },
  '200 {}': { status: 200, body: {} },
  '204': { status: 204 },
  '200 html': { status: 200, text: '<html><title>Sign in</title></html>', type: 'text/html' },
  '200 pending': { status: 200, body: { status: 'pending' } },
  '202': { status: 202 },
  'another card': view =>
    isTransfer(view) ? moved(view, { card_id: 'card_1' }) : { status: 200, body: view.other ?? {} },
  'another amount': view => (isTransfer(view) ? moved(view, { amount: 1 }) : shownAs(view, { balance: 500 })),
  'another label': view => (isTransfer(view) ? moved(view, {}) : shownAs(view, { label: 'of somebody else' })),
  'as if it were done': view =>
    isTransfer(view) ? moved(view, {}, 1) : shownAs(view, { id: 'card_99', balance: view.request.body['amount'] }),
  'the newest card': view => (isTransfer(view) ? moved(view, {}, 1) : shownAs(view, view.newest ?? {})),
  'balances as before': view => (isTransfer(view) ? moved(view, {}) : shownAs(view, {})),
  '307': { status: 307, headers: { location: 'https://elsewhere.example/v1/cards' } },
  '500': refused(500, 'internal_error'),
  '500 with the key in it': view =>
    refused(500, 'internal_error', {
      message: `Bearer ${API_KEY} may not use ${CARD_NUMBER}`,
      sent: view.request.headers,
    }),
  '502 html': { status: 502, text: '<html></html>', type: 'text/html' },
  '503': refused(503, 'service_unavailable'),
  '504': { status: 504, text: '', type: 'text/html' },
  '408': refused(408, 'timeout'),
  '429': limited(1),
  '429 in 20 s': limited(20),
  '429 in an hour': limited(3600),
  '403 html': { status: 403, text: '<html><title>Blocked</title></html>', type: 'text/html' },
  '409 odd word': refused(409, 'not_this_way'),
  '409 in progress': refused(409, 'idempotency_in_progress'),
  '409 duplicate': refused(409, 'duplicate_request'),
  '422 key reused': refused(422, 'idempotency_key_reused'),
  '400 insufficient funds': refused(400, 'insufficient_funds'),
  '400 invalid request': refused(400, 'invalid_request'),
  '401': refused(401, 'unauthorized'),
  '400 odd word': refused(400, 'not_this_way'),
  '403': refused(403, 'forbidden'),
  '404': refused(404, 'not_found'),
  '422': refused(422, 'validation_failed'),
} satisfies Readonly<Record<string, Says>>;

export type Saying = keyof typeof SAYINGS;
/** Those that come at any time; the others are said behind a deed alone. */
export const SAYING_NAMES = (Object.keys(SAYINGS) as Saying[]).filter(
  name => !['400 odd word', '403', '422'].includes(name),
);
/** Believed where they come first; so they come behind nothing that was done. */
export const DEFINITE: ReadonlySet<Saying> = new Set(['400 insufficient funds', '400 invalid request', '401', '404']);

const NOT_BEHIND = { list: 0, card: 0, wallet: 0, fresh: 0 };

const isTransfer = ({ request }: View) => request.change === 'fund' || request.change === 'withdraw';
const centsOf = (amount: unknown) => Math.round(Number(amount) * 100);

export class Service {
  readonly cards = new Map<string, Card>();
  readonly effects: Effect[] = [];
  readonly wallets: { readonly until: number; readonly cents: number }[] = [];
  readonly #kept = new Map<string, { readonly answer: Answer; readonly at: number; readonly instance: number }>();
  wallet: number;
  /** Requests that changed something, or were to. */
  changes = 0;
  isHonest = true;
  epoch = 0;
  /** When it was set back last. */
  resetAt = Number.NEGATIVE_INFINITY;

  readonly world: World;
  readonly settings: Settings;
  readonly lies: readonly Lie[];
  constructor(world: World, settings: Settings, lies: readonly Lie[]) {
    this.world = world;
    this.settings = settings;
    this.lies = lies;
    this.wallet = 1_000_000;
    this.#addFirst();
  }

  #addFirst(): void {
    for (const n of [1, 2]) this.#add(`card_${n}`, { label: `long ago ${n}` }, 10_000, -86_400_000);
  }

  /** The sandbox is set back: cards and wallet are those of the beginning, keys are forgotten, and ids are given anew. */
  reset(): void {
    this.cards.clear();
    this.#kept.clear();
    this.wallets.length = 0;
    this.wallet = this.settings.wallet;
    this.epoch += 1;
    this.resetAt = this.world.now;
    this.#addFirst();
  }

  /** From now on it lies, and its books are those of the history. */
  begin(): void {
    this.isHonest = false;
    this.effects.length = 0;
    this.changes = 0;
    this.wallet = this.settings.wallet;
    const { world } = this;
    for (const { at, cents, card } of this.settings.others) world.after(at, undefined, () => this.#spend(cents, card));
  }

  latency(): number {
    return 1 + this.world.chance.fraction() * 20;
  }

  /** A request has arrived. */
  take({ method, path, headers, text, who, answer }: Arrived): void {
    const { world } = this;
    const url = new URL(path.replace(/^\/v1/, ''), 'http://localhost');
    const body = text === '' ? {} : (JSON.parse(text) as Request['body']);
    const change = CHANGES.find(([pattern]) => pattern.test(`${method} ${url.pathname}`))?.[1];
    const card = /^\/cards\/([^/]+)/.exec(url.pathname)?.[1] ?? '';
    const request = { method, path: url.pathname, query: url.searchParams, headers, body, change, card, who };
    const { failing } = this.settings;
    const isFailing = !this.isHonest && world.now - this.#changedAt < (failing?.ms ?? 0);
    if (headers['authorization'] !== `Bearer ${API_KEY}`) answer(this.#reply(refused(401, 'unauthorized')));
    else if (change !== undefined) answer(this.#change(request));
    else if (isFailing)
      answer(this.#reply(refused(503, 'service_unavailable'), failing?.how === 'lost' ? 'lost' : undefined));
    else answer(this.#reply(this.#read(request)));
  }
  #changedAt = Number.NEGATIVE_INFINITY;

  #change(request: Request): Reply {
    const { world } = this;
    this.changes += 1;
    this.#changedAt = world.now;
    const lie = this.isHonest ? undefined : this.lies.find(({ nth }) => nth === this.changes);
    if (lie !== undefined) {
      world.happened(`says ${lie.says}`);
      world.happened(`does ${lie.does}`);
    }
    const { does, says, ms } = lie ?? { does: 'done', says: 'honest', ms: 0 };
    const honest = does === 'done' ? this.#once(request) : refused(503, 'service_unavailable');
    if (does === 'later') world.after(ms, undefined, () => void this.#once(request));
    const said: Says = SAYINGS[says];
    if (typeof said === 'string') return this.#reply(honest, said);
    return this.#reply(typeof said === 'function' ? said(this.#view(request, honest)) : said);
  }

  #reply({ status, body, text, type, headers }: Answer, kept?: Reply['kept']): Reply {
    const written = text ?? (body === undefined ? '' : JSON.stringify(body));
    const date = new Date(START + this.world.now).toUTCString();
    const typed = written === '' ? {} : { 'content-type': type ?? 'application/json' };
    return { kept, status, text: written, headers: { date, 'x-request-id': 'req_1', ...typed, ...headers } };
  }

  #view(request: Request, honest: Answer): View {
    const made = this.effects.at(-1);
    const id =
      request.change === 'create'
        ? made?.change === 'create' && made.who === request.who
          ? made.card
          : ''
        : request.card;
    const card = this.cards.get(id);
    const other = [...this.cards.values()].find(each => each.id !== id);
    const newest = [...this.cards.values()].findLast(each => each.id !== id);
    return {
      honest,
      request,
      card: card && this.#shown(card, 'single'),
      other: other && this.#shown(other, 'single'),
      newest: newest && this.#shown(newest, 'single'),
      wallet: this.wallet,
    };
  }

  /** Once for a key, as long as it is known. */
  #once(request: Request): Answer {
    const { settings, world } = this;
    const { keysMs } = settings;
    const key = request.headers['x-idempotency-key'];
    const id = `${request.method} ${request.path} ${key}`;
    const instance = settings.diesAt > 0 && !this.isHonest && this.changes >= settings.diesAt ? 1 : 0;
    const used = key === undefined ? undefined : this.#kept.get(id);
    if (used !== undefined && settings.limitsRepeats && this.isHonest) return limited(3600);
    const kept = keysMs === 0 ? undefined : used;
    const isKnown =
      kept !== undefined && kept.instance === instance && (keysMs === null || world.now - kept.at <= keysMs);
    if (kept !== undefined) this.world.happened(isKnown ? 'a key is repeated' : 'a key is repeated that is forgotten');
    if (kept !== undefined && isKnown) {
      return settings.repeated === 0 ? kept.answer : refused(settings.repeated, 'idempotency_key_reused');
    }
    const answer = this.#objection(request) ?? this.#do(request);
    this.#kept.set(id, { answer, at: world.now, instance });
    return answer;
  }

  #objection({ change, body, card: id }: Request): Answer | undefined {
    const cents = centsOf(body['amount']);
    if (change === 'create') {
      if (body['bin_id'] !== 'bin_1') return refused(404, 'bin_not_found');
      return this.wallet < cents ? refused(400, 'insufficient_funds') : undefined;
    }
    const card = this.cards.get(id);
    if (card === undefined) return refused(404, 'not_found');
    if (card.status === 'terminated') return refused(409, 'card_terminated');
    if (change === 'fund' && this.wallet < cents) return refused(400, 'insufficient_funds');
    if (change === 'withdraw' && card.cents < cents) return refused(400, 'insufficient_card_funds');
    if (change === 'freeze' && card.status === 'frozen') return refused(409, 'card_already_frozen');
    if (change === 'unfreeze' && card.status === 'active') return refused(409, 'card_not_frozen');
    return undefined;
  }

  #do({ change = 'create', body, card: id, who }: Request): Answer {
    const cents = centsOf(body['amount']);
    const note = (of: string, amount: number) =>
      void this.effects.push({ change, card: of, cents: amount, at: this.world.now, epoch: this.epoch, who });
    if (change === 'create') {
      const card = this.#add(`card_${this.cards.size + 1}`, body, cents, this.world.now);
      this.#setWallet(this.wallet - cents);
      note(card.id, cents);
      return { status: 201, body: this.#shown(card, 'single') };
    }
    const card = this.cards.get(id) as Card;
    if (change === 'fund' || change === 'withdraw') {
      const plus = change === 'fund' ? cents : -cents;
      this.#set(card, card.status, card.cents + plus);
      this.#setWallet(this.wallet - plus);
      note(card.id, cents);
      const balances = { card_balance: card.cents / 100, wallet_balance: this.wallet / 100 };
      return { status: 200, body: { card_id: id, amount: cents / 100, ...balances } };
    }
    const status = change === 'terminate' ? 'terminated' : change === 'freeze' ? 'frozen' : 'active';
    const freed = change === 'terminate' ? card.cents : 0;
    this.#set(card, status, card.cents - freed);
    this.#setWallet(this.wallet + freed);
    note(card.id, freed);
    return { status: 200, body: this.#shown(card, 'single') };
  }

  #add(id: string, body: object, cents: number, createdAt: number): Card {
    const { label = '', metadata = {} } = body as { label?: string; metadata?: object };
    const card: Card = { id, label, metadata, createdAt, status: 'active', cents, before: [] };
    this.cards.set(id, card);
    return card;
  }

  #set(card: Card, status: Card['status'], cents: number): void {
    card.before.push({ until: this.world.now, status: card.status, cents: card.cents });
    card.status = status;
    card.cents = cents;
  }

  #setWallet(cents: number): void {
    this.wallets.push({ until: this.world.now, cents: this.wallet });
    this.wallet = cents;
  }

  #spend(cents: number, n: number): void {
    const card = n === 0 ? undefined : [...this.cards.values()][n - 1];
    this.world.happened('somebody else moves money');
    if (n === 0) this.#setWallet(Math.max(0, this.wallet + cents));
    else if (card !== undefined && card.status === 'active' && card.cents + cents >= 0) {
      this.#set(card, card.status, card.cents + cents);
    }
  }

  #read({ method, path, query, card: id }: Request): Answer {
    const { behind } = this.isHonest ? { behind: NOT_BEHIND } : this.settings;
    const at = this.world.now;
    if (id !== '' && method === 'GET') {
      const card = this.cards.get(id);
      const isFresh = card !== undefined && card.createdAt > at - behind.fresh && card.createdAt > 0;
      return card === undefined || isFresh
        ? refused(404, 'not_found')
        : { status: 200, body: this.#shown(card, 'single', behind.card) };
    }
    switch (`${method} ${path}`) {
      case 'GET /bins':
        return { status: 200, body: { data: [{ id: 'bin_1', network: 'visa', '3ds': true, max_monthly: 10_000 }] } };
      case 'GET /wallet': {
        const cents = this.wallets.find(({ until }) => until > at - behind.wallet)?.cents ?? this.wallet;
        return { status: 200, body: { balance: cents / 100, currency: 'USD' } };
      }
      case 'GET /cards': {
        const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 25)];
        const asks = (name: string) => (this.settings.ignoresFilters ? null : query.get(name));
        const fitting = [...this.cards.values()]
          .filter(({ createdAt }) => createdAt < 0 || createdAt <= at - behind.list)
          .reverse()
          .map(card => this.#shown(card, 'list', behind.card))
          .filter(({ status }) => (asks('status') ?? status) === status)
          .filter(({ bin_id }) => (asks('bin_id') ?? bin_id) === bin_id);
        const data = fitting.slice((page - 1) * size, page * size);
        const total = this.settings.totalsAhead ? this.cards.size : fitting.length;
        const pages = { page, per_page: size, total, total_pages: Math.max(1, Math.ceil(total / size)) };
        return { status: 200, body: this.settings.totals ? { data, ...pages } : { data } };
      }
      case 'GET /transactions':
      case 'GET /webhooks':
      case 'GET /3ds/challenges':
        return { status: 200, body: { data: [] } };
      default:
        return refused(404, 'route_not_found');
    }
  }

  #shown(card: Card, place: 'single' | 'list', behindMs = 0) {
    const { metadata } = this.settings;
    const { status, cents } =
      card.before.find(({ until }) => behindMs > 0 && until > this.world.now - behindMs) ?? card;
    return {
      id: card.id,
      bin_id: 'bin_1',
      network: 'visa',
      last4: CARD_NUMBER.slice(-4),
      status,
      balance: cents / 100,
      spending_limit: 10_000,
      label: card.label,
      allowed_categories: [],
      auto_freeze_at: null,
      ...(metadata === 'nowhere' || (metadata === 'not in lists' && place === 'list')
        ? {}
        : { metadata: card.metadata }),
      created_at: new Date(START + card.createdAt).toISOString(),
      expires_at: '2029-12-31T23:59:59Z',
    };
  }
}

const CHANGES: readonly (readonly [RegExp, Change])[] = [
  [/^POST \/cards$/, 'create'],
  [/^POST \/cards\/[^/]+\/fund$/, 'fund'],
  [/^POST \/cards\/[^/]+\/withdraw$/, 'withdraw'],
  [/^POST \/cards\/[^/]+\/freeze$/, 'freeze'],
  [/^POST \/cards\/[^/]+\/unfreeze$/, 'unfreeze'],
  [/^(?:POST \/cards\/[^/]+\/terminate|DELETE \/cards\/[^/]+)$/, 'terminate'],
];
