/**
 * A card service that cannot be trusted, over real HTTP on loopback. It keeps true books - cards, wallet and every
 * effect with the request that caused it - and answers by script: what it does and what it says are two things. It
 * imports nothing of `src/`, so that it shares no mistake with the program it is played against.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, connect, type Server as Listener } from 'node:net';
import { selfSigned } from './certificate.ts';

export type WriteOperation = 'create' | 'fund' | 'withdraw' | 'terminate' | 'freeze' | 'unfreeze';

export interface HostileCard {
  readonly id: string;
  readonly bin_id: string;
  readonly label: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  status: string;
  cents: number;
}

/** One change of the books. `request` is the number of the request in `requests` that caused it. */
export interface Effect {
  readonly operation: WriteOperation;
  readonly card: string;
  readonly label: string;
  readonly cents: number;
  readonly request: number;
}

export interface SeenRequest {
  readonly number: number;
  readonly bearer: string;
  readonly method: string;
  readonly path: string;
  /** `read` for everything that changes nothing, `details` for card numbers. */
  readonly operation: WriteOperation | 'read' | 'details' | 'unknown';
  readonly card: string | undefined;
  readonly key: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  /** The play of the script that answered it; undefined where the service was honest. */
  play?: Play;
  /** Of the answer, sent or lost. */
  status?: number;
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
  readonly asked: Readonly<Record<string, unknown>>;
  readonly books: Books;
  /** Time of the service, ms. */
  readonly at: number;
}

export interface Answered {
  readonly status: number;
  readonly body?: unknown;
  /** Sent in place of a JSON body. */
  readonly text?: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Where the connection is reset. */
export type LostAt = 'before-headers' | 'after-headers' | 'in-body';
export type Answer = 'honest' | { readonly lost: LostAt } | Answered | ((view: View) => Answered);

export interface Play {
  /**
   * `later`: it happens when `settle()` is called, as a queue behind a gateway does. `afterMs`: so long after the answer, by
   * the clock of the service.
   */
  readonly effect: 'done' | 'none' | 'later' | { readonly afterMs: number };
  readonly answer: Answer;
}

export type KeyPolicy =
  | 'honoured'
  | 'ignored'
  /** Honoured for so long on the clock of the service. */
  | { readonly forgottenAfterMs: number }
  /** Honoured for so many further writes. */
  | { readonly forgottenAfterRequests: number }
  /** A repeated key is answered with this, whatever became of the first request. */
  | { readonly repeated: Answered };

export interface Behind {
  /** A new card is not listed before that. */
  readonly listMs?: number;
  /** State and balance of a card that is read, alone or in a list, are so old. */
  readonly cardMs?: number;
  /** The same of a card in a list, where that is older than the card alone. */
  readonly rowMs?: number;
  readonly walletMs?: number;
  /** A new card is not found by its id before that. */
  readonly newMs?: number;
}

export interface AccountOptions {
  readonly walletCents?: number;
  readonly keys?: KeyPolicy;
  /** State and money are checked before the key is looked up. */
  readonly checksBeforeKeys?: boolean;
  readonly metadata?: 'everywhere' | 'not-in-lists' | 'nowhere';
  /** How far each kind of reading is behind the books, ms of the clock of the service. */
  readonly behind?: Behind;
  /** The list of cards, and each card alone, answer 503. */
  readonly cardsAway?: boolean;
  /** Lists tell page and total; a bare array otherwise. */
  readonly totals?: boolean;
  readonly cards?: readonly Partial<HostileCard>[];
}

/** The account of one key, exact to the cent. */
export interface Books {
  walletCents: number;
  readonly cards: Map<string, HostileCard>;
  readonly effects: Effect[];
}

export interface Scripted {
  readonly operation: WriteOperation;
  /** Only requests it holds for; all when left out. */
  readonly where?: (request: SeenRequest) => boolean;
  /** One play for each request, in order; honest after the last. */
  readonly plays: readonly Play[];
  /** The last one has no end. */
  readonly isEndless?: boolean;
}

export interface HostileService extends AsyncDisposable {
  /** Plain HTTP on loopback, for test keys. */
  readonly baseUrl: string;
  /** For live keys: TLS under a public name, reached through a proxy. Any key may come this way. */
  readonly publicUrl: string;
  /** What finds and trusts `publicUrl`; `SSL_CERT_FILE` must hold `certificate`. */
  readonly proxyUrl: string;
  readonly certificate: string;
  readonly requests: SeenRequest[];
  /** Empty books for the accounts of these keys; requests and scripts are forgotten. */
  reset(accounts: Readonly<Record<string, AccountOptions>>): void;
  books(bearer: string): Books;
  /** Changes how the account behaves from now on. */
  change(bearer: string, options: AccountOptions): void;
  script(...scripted: readonly Scripted[]): void;
  /** What was to happen later happens now. */
  settle(): void;
}

interface Stored {
  readonly answer: Answered;
  readonly at: number;
  readonly write: number;
}

/** The books as they were until a change. */
interface Page {
  readonly until: number;
  readonly walletCents: number;
  readonly cards: ReadonlyMap<string, Pick<HostileCard, 'status' | 'cents'>>;
}

interface Account {
  options: AccountOptions;
  readonly books: Books;
  readonly stored: Map<string, Stored>;
  /** Oldest first. */
  readonly pages: Page[];
  writes: number;
}

const PUBLIC_NAME = 'cards.example';
const LONG_AGO = '2026-01-15T08:00:00Z';
const NUMBER = '4000000000000002';

const WRITES: readonly (readonly [RegExp, WriteOperation])[] = [
  [/^POST \/cards$/, 'create'],
  [/^POST \/cards\/([^/]+)\/fund$/, 'fund'],
  [/^POST \/cards\/([^/]+)\/withdraw$/, 'withdraw'],
  [/^POST \/cards\/([^/]+)\/terminate$/, 'terminate'],
  [/^DELETE \/cards\/([^/]+)$/, 'terminate'],
  [/^POST \/cards\/([^/]+)\/freeze$/, 'freeze'],
  [/^POST \/cards\/([^/]+)\/unfreeze$/, 'unfreeze'],
];

/** `now` is the clock of the service, ms since 1970: age of keys, dates of cards and of answers. */
export async function hostileService(options: { readonly now: () => number }): Promise<HostileService> {
  const { now } = options;
  const accounts = new Map<string, Account>();
  const requests: SeenRequest[] = [];
  let scripts: { scripted: Scripted; left: Play[] }[] = [];
  let later: { readonly at: number; readonly happen: () => void }[] = [];

  /** What was to happen by now happens. */
  const catchUp = (at: number): void => {
    const due = later.filter(each => each.at <= at);
    later = later.filter(each => each.at > at);
    for (const { happen } of due) happen();
  };

  const answer = (incoming: IncomingMessage, text: string, outgoing: ServerResponse): void => {
    const seen = seenRequest(incoming, text, requests.length + 1);
    requests.push(seen);
    catchUp(now());
    outgoing.sendDate = false;
    outgoing.setHeader('date', new Date(now()).toUTCString());
    const { answered, lost } = answerTo(seen);
    seen.status = answered.status;
    if (lost === undefined) send(outgoing, answered, `req_${seen.number}`);
    else lose(outgoing, lost, answered);
  };

  function answerTo(seen: SeenRequest): { readonly answered: Answered; readonly lost?: LostAt } {
    const account = accounts.get(seen.bearer);
    if (account === undefined) return { answered: refusal(401, 'unauthorized') };
    if (!isWrite(seen.operation)) return { answered: read(account, seen, now()) };
    account.writes += 1;
    const play = nextPlay(seen);
    if (play !== undefined) seen.play = play;
    const answered = perform(account, seen, play?.effect ?? 'done');
    const said = play?.answer ?? 'honest';
    if (said === 'honest') return { answered };
    if (typeof said === 'function') return { answered: said(viewOf(account, seen, answered, now())) };
    return 'lost' in said ? { answered, lost: said.lost } : { answered: said };
  }

  function nextPlay(seen: SeenRequest): Play | undefined {
    const fits = ({ scripted, left }: (typeof scripts)[number]) =>
      left.length > 0 && scripted.operation === seen.operation && (scripted.where?.(seen) ?? true);
    const found = scripts.find(fits);
    const isLast = found?.scripted.isEndless === true && found.left.length === 1;
    return isLast ? found.left[0] : found?.left.shift();
  }

  /** What an honest service answers; the effect is in the books where the play has one. */
  function perform(account: Account, seen: SeenRequest, effect: Play['effect']): Answered {
    if (effect === 'done') return throughKey(account, seen, now());
    if (effect !== 'none') {
      const at = effect === 'later' ? Number.POSITIVE_INFINITY : now() + effect.afterMs;
      later.push({ at, happen: () => void throughKey(account, seen, Math.min(at, now())) });
    }
    return { status: 503, body: errorBody(503, 'service_unavailable') };
  }

  const server = createServer((incoming, outgoing) => {
    void bodyOf(incoming).then(text => answer(incoming, text, outgoing));
  });
  const { key, cert } = selfSigned('Hostile', [PUBLIC_NAME]);
  const secure = createSecure({ key, cert }, (incoming, outgoing) => {
    void bodyOf(incoming).then(text => answer(incoming, text, outgoing));
  });
  const securePort = await listening(secure);
  const proxy = tunnelTo(securePort);
  const [port, proxyPort] = [await listening(server), await listening(proxy)];
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    publicUrl: `https://${PUBLIC_NAME}/v1`,
    proxyUrl: `http://127.0.0.1:${proxyPort}`,
    certificate: cert,
    requests,
    reset(given) {
      accounts.clear();
      requests.length = 0;
      scripts = [];
      later = [];
      for (const [bearer, told] of Object.entries(given)) accounts.set(bearer, opened(told));
    },
    books: bearer => accountOf(accounts, bearer).books,
    change(bearer, told) {
      const account = accountOf(accounts, bearer);
      account.options = { ...account.options, ...told };
      if (told.walletCents !== undefined) account.books.walletCents = told.walletCents;
    },
    script(...scripted) {
      scripts.push(...scripted.map(each => ({ scripted: each, left: [...each.plays] })));
    },
    settle() {
      catchUp(Number.POSITIVE_INFINITY);
    },
    async [Symbol.asyncDispose]() {
      for (const each of [server, secure, proxy]) each.closeAllConnections();
      await Promise.all([server, secure, proxy].map(each => new Promise(closed => each.close(closed))));
    },
  };

  /** Once for a key, as far as this account keeps keys. */
  function throughKey(account: Account, seen: SeenRequest, at: number): Answered {
    const { keys = 'honoured', checksBeforeKeys = false } = account.options;
    const objection = checksBeforeKeys ? objectionTo(account.books, seen) : undefined;
    if (objection !== undefined) return objection;
    const id = `${seen.method} ${seen.path} ${seen.key}`;
    const stored = seen.key === undefined || keys === 'ignored' ? undefined : account.stored.get(id);
    if (stored !== undefined && isRemembered(keys, stored, { at, write: account.writes })) {
      return typeof keys === 'object' && 'repeated' in keys ? keys.repeated : stored.answer;
    }
    const given = objectionTo(account.books, seen) ?? effectOf(account, seen, at);
    account.stored.set(id, { answer: given, at, write: account.writes });
    return given;
  }
}

function isWrite(operation: SeenRequest['operation']): operation is WriteOperation {
  return operation !== 'read' && operation !== 'details' && operation !== 'unknown';
}

function isRemembered(keys: KeyPolicy, stored: Stored, now: { readonly at: number; readonly write: number }): boolean {
  if (typeof keys === 'string') return keys === 'honoured';
  if ('forgottenAfterMs' in keys) return now.at - stored.at <= keys.forgottenAfterMs;
  if ('forgottenAfterRequests' in keys) return now.write - stored.write <= keys.forgottenAfterRequests;
  return true;
}

function accountOf(accounts: ReadonlyMap<string, Account>, bearer: string): Account {
  const account = accounts.get(bearer);
  if (account === undefined) throw new Error('no account of that key was opened');
  return account;
}

function opened(options: AccountOptions): Account {
  const cards = (options.cards ?? []).map(
    (given, at): HostileCard => ({
      id: `card_${at + 1}`,
      bin_id: 'bin_1',
      label: '',
      metadata: {},
      created_at: LONG_AGO,
      status: 'active',
      cents: 10_000,
      ...given,
    }),
  );
  const books = {
    walletCents: options.walletCents ?? 100_000,
    cards: new Map(cards.map(card => [card.id, card])),
    effects: [],
  };
  return { options, books, stored: new Map(), pages: [], writes: 0 };
}

function seenRequest(incoming: IncomingMessage, text: string, number: number): SeenRequest {
  const method = incoming.method ?? '';
  const path = (incoming.url ?? '').replace(/^\/v1/, '');
  const line = `${method} ${path.split('?')[0]}`;
  const found = WRITES.map(([pattern, operation]) => ({ operation, match: pattern.exec(line) })).find(
    ({ match }) => match !== null,
  );
  const key = incoming.headers['x-idempotency-key'];
  const rest = method !== 'GET' ? 'unknown' : /\/details$/.test(line) ? 'details' : 'read';
  return {
    number,
    bearer: (incoming.headers.authorization ?? '').replace(/^Bearer /, ''),
    method,
    path,
    operation: found?.operation ?? rest,
    card: found?.match?.[1] ?? /^GET \/cards\/([^/?]+)/.exec(line)?.[1],
    key: typeof key === 'string' ? key : undefined,
    body: parsed(text),
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const inCents = (amount: unknown) => Math.round(Number(amount) * 100);
const inDollars = (cents: number) => cents / 100;

/** Why an honest service would refuse it now. */
function objectionTo(books: Books, seen: SeenRequest): Answered | undefined {
  const cents = inCents(seen.body['amount']);
  if (seen.operation === 'create') {
    if (seen.body['bin_id'] !== 'bin_1') return refusal(404, 'bin_not_found');
    return books.walletCents < cents ? refusal(400, 'insufficient_funds') : undefined;
  }
  const card = books.cards.get(seen.card ?? '');
  if (card === undefined) return refusal(404, 'not_found');
  if (card.status === 'terminated') return refusal(409, 'card_terminated');
  if (seen.operation === 'fund' && books.walletCents < cents) return refusal(400, 'insufficient_funds');
  if (seen.operation === 'withdraw' && card.cents < cents) return refusal(400, 'insufficient_card_funds');
  if (seen.operation === 'freeze' && card.status === 'frozen') return refusal(409, 'card_already_frozen');
  if (seen.operation === 'unfreeze' && card.status === 'active') return refusal(409, 'card_not_frozen');
  return undefined;
}

const NEXT_STATUS: Partial<Record<WriteOperation, string>> = {
  terminate: 'terminated',
  freeze: 'frozen',
  unfreeze: 'active',
};

/** Changes the books; nothing objects any more. */
function effectOf(account: Account, seen: SeenRequest, at: number): Answered {
  const { books } = account;
  const operation = seen.operation as WriteOperation;
  account.pages.push(pageOf(books, at));
  if (operation === 'create') {
    const card = createdCard(books, seen, at);
    books.walletCents -= card.cents;
    books.cards.set(card.id, card);
    note(books, operation, card, card.cents, seen);
    return { status: 201, body: shown(account, card, 'single') };
  }
  const card = books.cards.get(seen.card ?? '');
  if (card === undefined) throw new Error('an objection was overlooked');
  if (operation === 'fund' || operation === 'withdraw') {
    const cents = inCents(seen.body['amount']);
    const moved = operation === 'fund' ? cents : -cents;
    card.cents += moved;
    books.walletCents -= moved;
    note(books, operation, card, cents, seen);
    return { status: 200, body: fundingOf(books, card, cents) };
  }
  const freed = operation === 'terminate' ? card.cents : 0;
  card.status = NEXT_STATUS[operation] ?? card.status;
  card.cents -= freed;
  books.walletCents += freed;
  note(books, operation, card, freed, seen);
  return { status: 200, body: shown(account, card, 'single') };
}

function createdCard(books: Books, seen: SeenRequest, at: number): HostileCard {
  const { bin_id, label, metadata, amount } = seen.body;
  return {
    id: `card_${books.cards.size + 1}`,
    bin_id: String(bin_id),
    label: typeof label === 'string' ? label : '',
    metadata: typeof metadata === 'object' && metadata !== null ? { ...metadata } : {},
    created_at: new Date(at).toISOString(),
    status: 'active',
    cents: inCents(amount),
  };
}

function note(books: Books, operation: WriteOperation, card: HostileCard, cents: number, seen: SeenRequest): void {
  books.effects.push({ operation, card: card.id, label: card.label, cents, request: seen.number });
}

function isTooNew({ options }: Account, { created_at }: HostileCard, at: number): boolean {
  return Date.parse(created_at) > at - (options.behind?.newMs ?? 0);
}

function fundingOf(books: Books, card: HostileCard, cents: number) {
  return {
    card_id: card.id,
    amount: inDollars(cents),
    card_balance: inDollars(card.cents),
    wallet_balance: inDollars(books.walletCents),
  };
}

function shown(account: Account, card: HostileCard, place: 'single' | 'list'): Readonly<Record<string, unknown>> {
  const { metadata = 'everywhere' } = account.options;
  const told = metadata === 'everywhere' || (metadata === 'not-in-lists' && place === 'single');
  return {
    id: card.id,
    bin_id: card.bin_id,
    network: 'visa',
    last4: NUMBER.slice(-4),
    status: card.status,
    balance: inDollars(card.cents),
    spending_limit: 10_000,
    label: card.label,
    allowed_categories: [],
    auto_freeze_at: null,
    ...(told ? { metadata: card.metadata } : {}),
    created_at: card.created_at,
    expires_at: '2029-12-31T23:59:59Z',
  };
}

function pageOf({ walletCents, cards }: Books, until: number): Page {
  return {
    until,
    walletCents,
    cards: new Map([...cards].map(([id, { status, cents }]) => [id, { status, cents }])),
  };
}

/** The page of the books that was the last one so long ago; undefined where nothing has changed since. */
function pageBefore({ pages }: Account, at: number, behindMs: number | undefined): Page | undefined {
  return behindMs === undefined ? undefined : pages.find(({ until }) => until > at - behindMs);
}

/** A card as a reading shows it that is behind. */
function cardBefore(account: Account, card: HostileCard, at: number, ms = account.options.behind?.cardMs): HostileCard {
  const before = pageBefore(account, at, ms)?.cards.get(card.id);
  return { ...card, ...before };
}

function read(account: Account, seen: SeenRequest, at: number): Answered {
  const { books } = account;
  const url = new URL(seen.path, 'http://localhost');
  if (seen.card !== undefined) {
    const card = books.cards.get(seen.card);
    if (card === undefined || isTooNew(account, card, at)) return refusal(404, 'not_found');
    if (seen.operation === 'details') return { status: 200, body: detailsOf(card) };
    return { status: 200, body: shown(account, cardBefore(account, card, at), 'single') };
  }
  switch (`${seen.method} ${url.pathname}`) {
    case 'GET /bins':
      return { status: 200, body: { data: [{ id: 'bin_1', network: 'visa', '3ds': true, max_monthly: 10_000 }] } };
    case 'GET /wallet':
      return { status: 200, body: { balance: inDollars(walletBefore(account, at)), currency: 'USD' } };
    case 'GET /cards':
      if (account.options.cardsAway) return { status: 503 };
      return cardsOf(account, url.searchParams, at);
    case 'GET /wallet/deposit-addresses':
    case 'GET /transactions':
    case 'GET /webhooks':
    case 'GET /3ds/challenges':
      return { status: 200, body: { data: [] } };
    default:
      return refusal(404, 'route_not_found');
  }
}

const detailsOf = (card: HostileCard) => ({
  card_id: card.id,
  pan: NUMBER,
  cvv: '123',
  exp_month: 12,
  exp_year: 2029,
});

function walletBefore(account: Account, at: number): number {
  return pageBefore(account, at, account.options.behind?.walletMs)?.walletCents ?? account.books.walletCents;
}

function cardsOf(account: Account, query: URLSearchParams, at: number): Answered {
  const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 25)];
  const { listMs = 0 } = account.options.behind ?? {};
  const fitting = [...account.books.cards.values()]
    .filter(({ created_at }) => Date.parse(created_at) <= at - listMs)
    .map(card => cardBefore(account, card, at, account.options.behind?.rowMs))
    .toReversed()
    .filter(card => (query.get('status') ?? card.status) === card.status)
    .filter(card => (query.get('bin_id') ?? card.bin_id) === card.bin_id);
  const data = fitting.slice((page - 1) * size, page * size).map(card => shown(account, card, 'list'));
  if (account.options.totals === false) return { status: 200, body: data };
  const total = fitting.length;
  return {
    status: 200,
    body: { data, page, per_page: size, total, total_pages: Math.max(1, Math.ceil(total / size)) },
  };
}

function viewOf(account: Account, seen: SeenRequest, honest: Answered, at: number): View {
  const { books } = account;
  const operation = seen.operation as WriteOperation;
  const made = books.effects.findLast(({ request }) => request === seen.number)?.card;
  const own = books.cards.get(seen.operation === 'create' ? (made ?? '') : (seen.card ?? ''));
  const old = [...books.cards.values()].find(({ id, created_at }) => id !== own?.id && created_at === LONG_AGO);
  const single = (card: HostileCard | undefined) => (card === undefined ? undefined : shown(account, card, 'single'));
  return { operation, honest, card: single(own), old: single(old), asked: seen.body, books, at };
}

/** The four fields of an error, interface 2.7. */
export function errorBody(code: number, error: string) {
  return { error, message: `no: ${error}`, code, request_id: 'req_hostile' };
}

export function refusal(status: number, error: string): Answered {
  return { status, body: errorBody(status, error) };
}

function send(outgoing: ServerResponse, { status, body, text, type, headers }: Answered, requestId: string): void {
  const written = text ?? (body === undefined ? '' : JSON.stringify(body));
  outgoing.writeHead(status, {
    'x-request-id': requestId,
    ...(written === '' ? {} : { 'content-type': type ?? 'application/json' }),
    ...headers,
  });
  outgoing.end(written);
}

function lose(outgoing: ServerResponse, at: LostAt, { status, body }: Answered): void {
  const { socket } = outgoing;
  if (at === 'before-headers') return void socket?.destroy();
  const text = JSON.stringify(body ?? {});
  outgoing.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  if (at === 'after-headers') outgoing.flushHeaders();
  else outgoing.write(text.slice(0, Math.ceil(text.length / 2)));
  // What was written goes out first.
  setImmediate(() => socket?.destroy());
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
  return text;
}

/** A proxy whose every tunnel ends at that port of loopback. */
function tunnelTo(port: number): Server {
  const proxy = createServer();
  proxy.on('connect', (_request, socket) => {
    const through = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(through).pipe(socket);
    });
    through.on('error', () => socket.destroy());
    through.on('close', () => socket.destroy());
    socket.on('error', () => through.destroy());
  });
  return proxy;
}

async function listening(server: Listener): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
