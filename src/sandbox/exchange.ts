/** One request to one answer, in the order of A-115: route, method, key, rate limit, size and type, and so on. */
import type { IncomingMessage } from 'node:http';
import { HEADERS } from '../contract/envelopes.ts';
import { type Answer, errorAnswer, refusalAnswer, withAllowance } from './answer.ts';
import { authorize } from './authorize.ts';
import { Gone, readBody } from './body.ts';
import { chanceOf, idOf } from './chance.ts';
import { sandboxNow } from './clock.ts';
import { turnedAway } from './gate.ts';
import { Refused } from './handler.ts';
import { type Allowance, countRequest } from './limits.ts';
import { honouredKey, perform, scopeOf } from './perform.ts';
import { findRoute, queryValues, type Route, routesOf, surfaceOf } from './routing.ts';
import { catchUp, type ServiceParts } from './service.ts';
import { StoreBroken } from './store/faults.ts';
import { type Sql, StoreBusy } from './store/sql.ts';
import { nextDue } from './timers.ts';

export interface Exchanged {
  readonly answer: Answer;
  readonly requestId: string;
}

interface Progress {
  requestId: string;
  allowance: Allowance | undefined;
}

interface Target {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Answers requests; `hosts` are the names this server goes by. Rejects only when no answer may be given. */
export class Exchange {
  readonly #parts: ServiceParts;
  readonly #routes = routesOf();
  hosts: readonly string[] = [];

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  async answer(request: IncomingMessage): Promise<Exchanged> {
    const progress: Progress = { requestId: this.#unadmittedId(), allowance: undefined };
    const turned = turnedAway(request, this.hosts);
    const answer = turned
      ? errorAnswer(turned, progress.requestId)
      : await this.#served(request, progress).catch((error: unknown) => this.#failed(error, progress));
    return { answer: withAllowance(answer, progress.allowance), requestId: progress.requestId };
  }

  async #served(request: IncomingMessage, progress: Progress): Promise<Answer> {
    const parts = this.#parts;
    const target = this.#target(request);
    if ('status' in target) return errorAnswer(target, progress.requestId);
    const { route, path, params } = target;
    authorize(request.headers.authorization, route.surface === 'admin' ? parts.adminToken : parts.key);
    const header = request.headers[HEADERS.idempotency_key.name.toLowerCase()];
    const given = typeof header === 'string' ? header : undefined;
    const admitted = await parts.store.write(sql => this.#admit(sql, target, given));
    Object.assign(progress, { requestId: admitted.requestId, allowance: admitted.allowance });
    if (admitted.allowance?.retryAfter !== undefined) {
      throw new Refused('rate_limited', `At most ${admitted.allowance.limit} such requests a minute.`);
    }
    const body = await readBody(request);
    const key = honouredKey(route, given);
    if (admitted.isSomethingDue) await catchUp(parts);
    const query = queryValues(route.row.query ?? {}, target.query);
    return perform(parts, { route, path, params, query, body, key, requestId: admitted.requestId });
  }

  /** The route, or the error that says why there is none; a missing or wrong key comes before neither. */
  #target(request: IncomingMessage): Target | Parameters<typeof errorAnswer>[0] {
    const [path = '', query = ''] = split(request.url ?? '');
    const found = findRoute(this.#routes, request.method ?? '', path);
    if (found.kind === 'route') {
      return { route: found.route, params: found.params, path, query: new URLSearchParams(query) };
    }
    if (found.kind === 'nothing') {
      const where = surfaceOf(path) === 'admin' ? 'the control surface of the sandbox' : 'the service';
      return { status: 404, error: 'route_not_found', message: `There is no such route in ${where}.` };
    }
    const allow = found.allowed.join(', ');
    const message = `This route takes ${allow}.`;
    return { status: 405, error: 'method_not_allowed', message, headers: { Allow: allow } };
  }

  /** Counts the request, names it and looks for due timers, in one short transaction. */
  async #admit(sql: Sql, { route, path }: Target, key: string | undefined) {
    const { account, clock, rateLimits } = this.#parts;
    const real = clock.now();
    const isLimited = rateLimits && route.surface === 'service';
    const bucket = route.row.effect === 'reveals-secret' ? 'details' : 'general';
    const allowance = isLimited ? await countRequest(sql, { account, bucket, real }) : undefined;
    const scope = key !== undefined && route.row.method === 'POST' ? scopeOf({ route, path }, key) : undefined;
    const requestId = await chanceOf({ sql, account, key: scope }).id('req');
    const due = await nextDue(sql, account, await sandboxNow(sql, account, real));
    return { allowance, requestId, isSomethingDue: due !== undefined };
  }

  #failed(error: unknown, { requestId }: Progress): Answer {
    if (error instanceof Refused) return refusalAnswer(error.refusal, error.message, requestId);
    if (error instanceof StoreBusy) {
      return refusalAnswer('service_unavailable', 'The store is busy; nothing of the request happened.', requestId);
    }
    // No trustworthy answer exists, or nobody is there to read it.
    if (error instanceof StoreBroken || error instanceof Gone) throw error;
    this.#parts.onFault(error);
    return refusalAnswer('internal_error', 'A fault of the sandbox. This is a bug.', requestId);
  }

  /** For requests that are refused before they are counted: by chance, so that they cost no write. */
  #unadmittedId(): string {
    return idOf('req', Buffer.from(this.#parts.random.bytes(20)).toString('hex'));
  }
}

function split(url: string): readonly [string, string] {
  const mark = url.indexOf('?');
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}
