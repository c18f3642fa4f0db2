/** One request to one answer, in the order of A-115: route, method, key, rate limit, size and type, and so on. */
import type { IncomingMessage } from 'node:http';
import { HEADERS } from '../../contract/envelopes.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { PAGE_PATH } from '../../contract/sandbox/page.ts';
import { isFull } from '../../engine/open.ts';
import { wireCard } from '../account/ledger.ts';
import { idOf } from '../calls/deterministic-ids.ts';
import { Refused, type TracelessName } from '../calls/handler.ts';
import { sandboxNow } from '../clock/clock.ts';
import { FAULT_HEADER, faultInHeader, faultyAnswer } from '../faults/applied-fault.ts';
import { type Answer, errorAnswer, refusalAnswer, refusedAnswer, replyAnswer, withAllowance } from '../http/answer.ts';
import { fingerprintOf } from '../http/idempotency.ts';
import type { Allowance } from '../http/limits.ts';
import {
  type AppliedFault,
  bodyOf,
  findRoute,
  Gone,
  honouredKey,
  type Keying,
  type ParsedRequest,
  queryValues,
  type Route,
  type Routes,
  readBody,
  refuseProblem,
  routesOf,
  scopeOf,
  surfaceOf,
} from '../http/request.ts';
import { PAGE_HEADERS } from '../page/inspector-sessions.ts';
import { keptAct, keyForm } from '../service/act-log.ts';
import { cleanText } from '../service/request-log.ts';
import type { ServiceParts, StoreMoment } from '../service/service.ts';
import { cardById } from '../store/cards.ts';
import { StoreBroken, StoreBusy } from '../store/sql.ts';
import {
  type Authorize,
  admitMadeKey,
  admitSession,
  authorizerOf,
  healthAnswer,
  isOfPage,
  pageFileAnswer,
  refuseLiveKeys,
  refuseLiveKeysIn,
  sessionAnswer,
  turnedAway,
  wayIn,
  withoutCodes,
} from './authorize.ts';
import { executeRequest } from './execute.ts';

interface Exchanged {
  readonly answer: Answer;
  readonly requestId: string;
  /** ms UTC on the clock of the sandbox, when it was looked at. */
  readonly now: number | undefined;
  /** What becomes of the connection on the way, when a fault meets the request. */
  readonly appliedFault?: AppliedFault | undefined;
}

interface Progress {
  requestId: string | undefined;
  allowance: Allowance | undefined;
  now?: number | undefined;
  appliedFault?: AppliedFault | undefined;
}

interface Target {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly path: string;
  /** The query that was sent, without the question mark. */
  readonly query: string;
}

/** Answers requests; `hosts` are the names this server goes by. Rejects only when no answer may be given. */
export class Exchange {
  readonly #parts: ServiceParts;
  #routes: { readonly of: string; readonly routes: Routes } | undefined;
  readonly #authorize: Readonly<Record<Route['surface'], Authorize>>;
  /** Scope and fingerprint of the requests this process is working on; others of the same key wait. */
  readonly #underWay = new Map<string, string>();
  hosts: readonly string[] = [];
  readonly #stopping: AbortSignal;

  constructor(parts: ServiceParts, stopping: AbortSignal) {
    this.#parts = parts;
    this.#stopping = stopping;
    this.#authorize = { service: authorizerOf(parts.key), admin: authorizerOf(parts.adminToken) };
  }

  /** What it answers from. */
  get parts(): ServiceParts {
    return this.#parts;
  }

  async answer(request: IncomingMessage): Promise<Exchanged> {
    const progress: Progress = { requestId: undefined, allowance: undefined, now: undefined, appliedFault: undefined };
    const { pageDoor, activeDialect } = this.#parts;
    const turned = turnedAway(request, this.hosts, pageDoor);
    const way = turned === undefined ? wayIn(pageDoor, request) : undefined;
    if (way !== undefined) return { answer: way, requestId: this.#named(progress), now: undefined };
    const answer = turned
      ? errorAnswer(turned, this.#named(progress))
      : await this.#served(request, progress).catch((error: unknown) => this.#failed(error, progress));
    this.#noted(request, answer, progress);
    const { appliedFault } = progress;
    const bare = activeDialect.dialect.bareHeaders === true;
    const isPage = pageDoor?.isOpen === true && request.url?.startsWith(PAGE_PATH) === true;
    const shown = isPage ? { ...answer, headers: { ...PAGE_HEADERS, ...answer.headers } } : answer;
    return {
      answer: bare ? shown : withAllowance(shown, progress.allowance),
      requestId: this.#named(progress),
      now: progress.now,
      appliedFault,
    };
  }

  /** What was refused before it was counted stands in no log: it is remembered here, for who wonders where it went. */
  #noted({ method = '', url = '', headers }: IncomingMessage, answer: Answer, { now }: Progress): void {
    const [path] = split(url);
    if (now !== undefined || answer.status < 400 || answer.status >= 500 || surfaceOf(path) === 'admin') return;
    const { error, message } = JSON.parse(answer.body) as { readonly error: string; readonly message: string };
    const { turnedLog, clock } = this.#parts;
    const key = keyForm(headers.authorization);
    turnedLog.keep({ at: clock.now(), method, path: cleanText(path), status: answer.status, error, why: message, key });
  }

  /** Whether a file of a whole store may be handed out or taken in; the answer says why not. */
  admitTransfer(request: IncomingMessage): { readonly answer: Answer | undefined; readonly requestId: string } {
    const progress: Progress = { requestId: undefined, allowance: undefined };
    const requestId = this.#named(progress);
    const { pageDoor } = this.#parts;
    const turned = turnedAway(request, this.hosts, pageDoor);
    if (turned !== undefined) return { answer: errorAnswer(turned, requestId), requestId };
    try {
      this.#authorize.admin(request.headers.authorization);
      return { answer: undefined, requestId };
    } catch (error) {
      return { answer: this.#failed(error, progress), requestId };
    }
  }

  /** What some work answered, or what is to be said of what it threw. */
  async guarded(requestId: string, work: () => Promise<string>): Promise<Answer> {
    try {
      return { status: 200, headers: {}, body: await work() };
    } catch (error) {
      return this.#failed(error, { requestId, allowance: undefined });
    }
  }

  async #served(request: IncomingMessage, progress: Progress): Promise<Answer> {
    const { pageDoor } = this.#parts;
    const file = pageFileAnswer(pageDoor, request.url ?? '', () => this.#named(progress));
    if (file !== undefined) return file;
    const target = this.#target(request);
    if ('status' in target) return errorAnswer(target, this.#named(progress));
    const isOpen = target.route.row.credential === 'none';
    if (!isOpen && isOfPage(pageDoor, request.headers)) admitSession(pageDoor, request.headers, target.route);
    else if (!isOpen) await this.#letIn(target.route, request.headers.authorization);
    const parsed = await this.#asked(request, target);
    if (isOpen) {
      refuseProblem(parsed);
      if (parsed.route.name === 'page.session') return sessionAnswer(pageDoor, parsed);
      return healthAnswer(this.#parts, this.hosts, parsed);
    }
    if (parsed.route.name === 'stop') return this.#ended(parsed);
    if (parsed.route.row.leavesNoTrace === true) return this.#looked(parsed, progress);
    const { keyed } = parsed;
    if (keyed !== undefined && keyed.rival === undefined) this.#underWay.set(keyed.scope, keyed.fingerprint);
    try {
      const { answer, appliedFault } = await executeRequest(this.#parts, parsed, ({ requestId, allowance, now }) => {
        progress.requestId = requestId;
        progress.allowance = allowance;
        progress.now = now;
      });
      progress.appliedFault = appliedFault;
      this.#acted(parsed, answer, progress);
      const spoken = answer && (await this.#spoken(parsed, answer));
      if (appliedFault !== undefined) return faultyAnswer(appliedFault, spoken, this.#named(progress));
      if (spoken === undefined) throw new Error(`${parsed.route.name} has no answer`);
      return spoken;
    } finally {
      if (keyed !== undefined && keyed.rival === undefined) this.#underWay.delete(keyed.scope);
    }
  }

  /** Changes are remembered, in this process alone: those of the service only while somebody may look at them. */
  #acted({ route, params, body, headers }: ParsedRequest, answer: Answer | undefined, { now }: Progress): void {
    const { pageDoor, actLog } = this.#parts;
    const isSeen = route.surface === 'admin' || pageDoor?.isOpen === true;
    if (!isSeen || route.row.method === 'GET' || answer === undefined || answer.status >= 400 || now === undefined)
      return;
    if (answer.headers['Idempotent-Replayed'] !== undefined || body instanceof Refused) return;
    const by = route.surface === 'admin' && isOfPage(pageDoor, headers) ? 'page' : 'program';
    actLog.keep({ at: now, by, ...keptAct({ route, params, body: body ?? {}, answer }) });
  }

  /** One moment of the store, and nothing of it changes: no number, no timer, no fault, no line of a log. */
  async #looked(parsed: ParsedRequest, progress: Progress): Promise<Answer> {
    refuseProblem(parsed);
    const { store, clock, tracelessHandlers } = this.#parts;
    const { route, params, query } = parsed;
    const handler = tracelessHandlers[route.name as TracelessName];
    const input = { ...params, ...query, ...bodyOf(parsed) };
    const parts = this.#parts;
    const read = <T>(work: (moment: StoreMoment) => Promise<T>) =>
      store.read(async sql => {
        const now = await sandboxNow(sql, clock.now());
        progress.now = now;
        return work({ sql, now, parts });
      });
    const reply = await handler({ parts, read }, input as never);
    // An answer carries the time of the sandbox, also one for which the store was not asked.
    if (progress.now === undefined) await read(async () => undefined);
    const isPage = isOfPage(parts.pageDoor, parsed.headers);
    return replyAnswer(route.row, isPage ? withoutCodes(route.name, reply) : reply);
  }

  /** Its end is nothing the store must take: that may be full, or held by another process. */
  async #ended(parsed: ParsedRequest): Promise<Answer> {
    refuseProblem(parsed);
    return replyAnswer(parsed.route.row, await this.#parts.serviceHandlers.stop?.(this.#parts, {} as never));
  }

  /** The server's own key needs no look into the store; others were made for it, or are unknown. */
  async #letIn(route: Route, header: string | undefined): Promise<void> {
    const isForAccounts = this.#parts.accounts !== undefined && route.name !== 'accounts.open';
    try {
      this.#authorize[route.surface](header);
      if (isForAccounts)
        throw new Refused('forbidden', 'This token opens accounts; each account has a token of its own.');
    } catch (unknown) {
      if (route.surface === 'admin' || !(unknown instanceof Refused)) throw unknown;
      await admitMadeKey(this.#parts, { route, header, unknown });
    }
  }

  /** The answer in the dialect of this server. */
  async #spoken({ route, params }: ParsedRequest, answer: Answer): Promise<Answer> {
    const { activeDialect, store } = this.#parts;
    const { speak, bareHeaders } = activeDialect.dialect;
    if (route.surface === 'admin' || (speak === undefined && bareHeaders === undefined)) return answer;
    const readCard = async (id: string) => {
      const card = await store.read(sql => cardById(sql, id));
      return card === undefined ? answer : replyAnswer(OPERATIONS['cards.get'], wireCard(card));
    };
    return activeDialect.spoken({ operation: route.name, row: route.row, answer, params, readCard });
  }

  async #asked(request: IncomingMessage, { route, params, path, query }: Target): Promise<ParsedRequest> {
    const { headers } = request;
    const arrivedAt = this.#parts.clock.monotonic();
    const header = headers[HEADERS.idempotency_key.name.toLowerCase()];
    const keySent = typeof header === 'string' ? header : undefined;
    refuseLiveKeys([request.url, keySent, ...Object.values(params)]);
    const isService = route.surface === 'service';
    const values = queryValues(route.row.query ?? {}, query);
    refuseLiveKeysIn(values);
    const fault = isService ? faultInHeader(headers[FAULT_HEADER]) : undefined;
    let body: ParsedRequest['body'];
    let bodyRead: ParsedRequest['bodyRead'];
    let keyed: Keying | undefined;
    try {
      bodyRead = await readBody(request);
      body = bodyRead;
      refuseLiveKeysIn(body);
      const key = honouredKey(route, this.#parts.activeDialect.dialect.ignoresKeys ? undefined : keySent);
      keyed = key === undefined ? undefined : this.#keying({ route, path }, key, body);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      // Said after the request was counted.
      body = error;
    }
    const keyLast4 = String(headers.authorization).slice(-4);
    const sent = {
      path,
      query: values,
      queryText: query,
      headers,
      arrivedAt,
      keySent,
      keyLast4,
      body,
      bodyRead,
      keyed,
    };
    return { route, params, ...sent, fault, stopping: this.#stopping };
  }

  #keying({ route, path }: Pick<ParsedRequest, 'route' | 'path'>, key: string, body: unknown): Keying {
    const scope = scopeOf({ route, path }, key);
    const fingerprint = fingerprintOf(route.row.method, path, body);
    return { scope, fingerprint, rival: this.#underWay.get(scope) };
  }

  /** The route, or the error that says why there is none; a missing or wrong key comes before neither. */
  #target(request: IncomingMessage): Target | Parameters<typeof errorAnswer>[0] {
    const [path = '', query = ''] = split(request.url ?? '');
    const { name, dialect } = this.#parts.activeDialect;
    if (this.#routes?.of !== name) this.#routes = { of: name, routes: routesOf(dialect.paths) };
    const found = findRoute(this.#routes.routes, request.method ?? '', path);
    if (found.kind === 'route') {
      return { route: found.route, params: found.params, path, query };
    }
    if (found.kind !== 'method') {
      return noRoute(surfaceOf(path));
    }
    const allow = found.allowed.join(', ');
    const message = `This route takes ${allow}.`;
    return { status: 405, error: 'method_not_allowed', message, headers: { Allow: allow } };
  }

  #failed(error: unknown, progress: Progress): Answer {
    const requestId = this.#named(progress);
    if (error instanceof Refused) return refusedAnswer(error, requestId);
    if (error instanceof StoreBusy) {
      const why = isFull(error.cause)
        ? 'The disk of the store is full; nothing of the request happened. Try again when it has room.'
        : 'The store is busy; nothing of the request happened.';
      return refusalAnswer('service_unavailable', why, requestId);
    }
    // No trustworthy answer exists, or nobody is there to read it.
    const isUnanswered = error instanceof StoreBroken || error instanceof Gone;
    if (isUnanswered) throw error;
    this.#parts.onFault(error);
    return refusalAnswer('internal_error', 'A fault of the sandbox. This is a bug.', requestId);
  }

  nameByChance(): string {
    return idOf('req', Buffer.from(this.#parts.random.bytes(20)).toString('hex'));
  }

  /** Requests that are refused before they are counted get random ids, so that they cost no write. */
  #named(progress: Progress): string {
    progress.requestId ??= this.nameByChance();
    return progress.requestId;
  }
}

function noRoute(surface: Route['surface']): Parameters<typeof errorAnswer>[0] {
  const where = surface === 'admin' ? 'the control surface of the sandbox' : 'the service';
  return { status: 404, error: 'route_not_found', message: `There is no such route in ${where}.` };
}

function split(url: string): readonly [string, string] {
  const mark = url.indexOf('?');
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}
