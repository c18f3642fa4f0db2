/** From method and path to the row of the contract and what serves it; routes are derived from the tables, nothing is typed twice. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { AnyField, Shape } from '../../contract/field.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Operation } from '../../contract/operation.ts';
import { decodedSegment } from '../../contract/overrides.ts';
import { ADMIN_PATH } from '../../contract/sandbox/basis.ts';
import type { FaultPhase, OneFault, RequestAction } from '../../contract/sandbox/faults.ts';
import { shapeProblem } from '../../contract/violation.ts';
import { centsOf } from '../../core/money.ts';
import { type Call, type Fields, Refused } from '../calls/handler.ts';
import type { Answer } from './answer.ts';

/** Path of the service below the origin; the base address ends in it. */
export const SERVICE_PATH = '/v1';

export interface Route extends Serving {
  readonly surface: 'service' | 'admin';
  readonly name: string;
  readonly row: Operation;
  readonly segments: readonly string[];
}

/** What serves a route: one of the three. */
interface Serving {
  /** In one transaction; in one moment of the store where it leaves no trace, without ids and events then. */
  readonly handler?: ((call: Pick<Call, 'sql' | 'now' | 'input'> & Partial<Call>) => unknown) | undefined;
  /** With the whole service: in many transactions, or in none. */
  readonly ofService?: ((input: Fields) => Promise<object>) | undefined;
  /** Of a body or an answer that is a file. */
  readonly ofFile?: ((request: IncomingMessage) => Promise<Answer>) | undefined;
}

/** Routes of the rows of a surface, in the order in which they are tried. */
export function routesOf(
  surface: Route['surface'],
  rows: Readonly<Record<string, Operation>>,
  servingOf: (name: string) => Serving,
): readonly Route[] {
  const base = surface === 'admin' ? ADMIN_PATH : SERVICE_PATH;
  return Object.entries(rows).map(([name, row]) => {
    return { surface, name, row, segments: `${base}${row.path}`.split('/'), ...servingOf(name) };
  });
}

/** Which surface an address belongs to, for the choice of the credential. */
export function surfaceOf(path: string): Route['surface'] {
  return path.startsWith(`${ADMIN_PATH}/`) ? 'admin' : 'service';
}

/** The route of a path without its query. Throws `route_not_found`, or `method_not_allowed` with those it takes. */
export function findRoute(routes: readonly Route[], method: string, path: string) {
  const given = path.split('/');
  const allowed: string[] = [];
  for (const candidate of routes) {
    const params = matched(given, candidate.segments);
    if (params === undefined) continue;
    if (candidate.row.method === method) return { route: candidate, params };
    allowed.push(candidate.row.method);
  }
  if (allowed.length === 0) {
    const where = surfaceOf(path) === 'admin' ? 'the control surface of the sandbox' : 'the service';
    throw new Refused('route_not_found', `There is no such route in ${where}.`);
  }
  const Allow = allowed.join(', ');
  throw new Refused('method_not_allowed', `This route takes ${Allow}.`, undefined, { Allow });
}

/** The parts of a path for which a template has a name; undefined where it does not fit. */
export const paramsIn = (path: string, template: string) => matched(path.split('/'), template.split('/'));

function matched(given: readonly string[], wanted: readonly string[]): Record<string, string> | undefined {
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const part = given[index] ?? '';
    if (!segment.startsWith('{')) {
      if (segment !== part) return undefined;
      continue;
    }
    const value = decodedSegment(part);
    if (value === undefined || value === '') return undefined;
    params[segment.slice(1, -1)] = value;
  }
  return params;
}

/** Values of the query the row knows, in the types of its fields; unknown names are ignored. */
export function queryValues(shape: Shape, text: string): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  if (text === '') return values;
  const query = new URLSearchParams(text);
  for (const [name, field] of Object.entries(shape)) {
    const given = query.get(name);
    if (given !== null) values[name] = typed(field, given);
  }
  return values;
}

/** Text that is no number stays text, and is then refused by the check of the shape. */
function typed(field: AnyField, text: string): unknown {
  const isNumber = (field.kind === 'integer' || field.kind === 'number') && /^-?\d{1,15}$/.test(text);
  return isNumber ? Number(text) : text;
}

// Reads the body of a request: JSON, small, an object.

/** The client went away before its request was whole: there is nobody to answer. */
export class Gone extends Error {
  override readonly name = 'Gone';
}

/** The fields of the body; none when there is no body. Throws `Refused` for a body that is none of the kind. */
export async function readBody(request: IncomingMessage): Promise<Fields> {
  const announced = Number(request.headers['content-length'] ?? 0);
  const isPresent = announced > 0 || request.headers['transfer-encoding'] !== undefined;
  if (!isPresent) return {};
  if (announced > LIMITS.requestBody.max) throw tooLarge();
  if (!isJson(request)) throw new Refused('unsupported_media_type', 'Send the body as application/json in UTF-8.');
  const bytes = await collected(request);
  if (bytes.length === 0) return {};
  const value = parsed(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refused('invalid_request', 'The body must be a JSON object.');
  }
  if (isTooDeep(value)) throw new Refused('invalid_request', 'The body is nested too deep.');
  return value as Fields;
}

/** Deeper than any body of the contract, far from what would exhaust the stack. */
const DEEPEST = 16;

function isJson(request: IncomingMessage): boolean {
  if (request.headers['content-encoding'] !== undefined) return false;
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map(parameter => parameter.trim()).find(parameter => parameter.startsWith('charset='));
  return type.trim() === 'application/json' && (charset === undefined || /^charset="?utf-8"?$/.test(charset));
}

async function collected(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    request.on('data', (part: Buffer) => {
      size += part.length;
      if (size > LIMITS.requestBody.max) reject(tooLarge());
      else parts.push(part);
    });
    request.on('end', () => resolve(Buffer.concat(parts)));
    // Also comes after the end of every whole request.
    request.on('close', () => request.complete || reject(new Gone('the client went away')));
    request.on('error', () => reject(new Gone('the client went away')));
  });
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) {
      throw new Refused('invalid_request', 'The body is not JSON in UTF-8.');
    }
    throw error;
  }
}

const isTooDeep = (value: unknown, levels = DEEPEST): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some(each => isTooDeep(each, levels - 1)));

function tooLarge(): Refused {
  return new Refused('payload_too_large', `A body may have at most ${LIMITS.requestBody.max} bytes.`);
}

// A request as far as it is understood before the store is asked: its route, its values, its key.

export interface ParsedRequest {
  readonly route: Route;
  readonly path: string;
  readonly params: Fields;
  readonly query: Fields;
  /** The query as it was sent, without its question mark. */
  readonly queryText: string;
  /** Fields of the body; undefined where it could not be read. */
  readonly body: Fields | undefined;
  /** What is wrong with its body or its key: said after the request was counted. */
  readonly refused: Refused | undefined;
  /**
   * The idempotency record it belongs to, where it has a key that is honoured; `rival` is the fingerprint of a request
   * under the same key that this process is still working on.
   */
  readonly keyed:
    | { readonly scope: string; readonly fingerprint: string; readonly rival: string | undefined }
    | undefined;
  /** The idempotency key as it was sent, honoured or not. */
  readonly keySent: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Real time it arrived, ms of a clock that is never set. */
  readonly arrivedAt: number;
  /** Last four characters of the API key. */
  readonly keyLast4: string;
  /** A fault for this request alone, from its header. */
  readonly fault: OneFault | undefined;
}

/** A fault that meets this request: when, what, and what is answered instead. */
export interface AppliedFault {
  /** Reads are always carried out first: there is no effect to keep from happening. */
  readonly phase: FaultPhase;
  readonly action: RequestAction;
  /** Seeds what the action leaves random. */
  readonly source: string;
}

/** JSON numbers of USD become integer cents here and nowhere else. */
export function withCents(shape: Shape, body: Fields): Fields {
  const converted: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    const isMoney = Object.hasOwn(shape, name) && shape[name]?.kind === 'money';
    converted[name] = isMoney && typeof value === 'number' ? centsOf(value) : value;
  }
  return converted;
}

/** Throws what is wrong with body or key. */
export function bodyOf({ body = {}, refused }: ParsedRequest): Fields {
  if (refused !== undefined) throw refused;
  return body;
}

/** Path parameters, query and body side by side. */
export const inputOf = (parsed: ParsedRequest): Fields => ({ ...parsed.params, ...parsed.query, ...bodyOf(parsed) });

/** Throws `invalid_request` for the first of path, query and body that is not as the row has it, and what was wrong with body or key. */
export function refuseProblem(parsed: ParsedRequest): void {
  const { params, query } = parsed;
  const { row } = parsed.route;
  const body = bodyOf(parsed);
  const problem =
    shapeProblem(row.params ?? {}, params) ??
    shapeProblem(row.query ?? {}, query) ??
    shapeProblem(row.body ?? {}, body);
  if (problem !== undefined) throw new Refused('invalid_request', `${problem.field}: ${problem.text}`);
  // What belongs together.
  const values = { ...params, ...query, ...body };
  const wrong = row.together?.({ given: new Set(Object.keys(values)), values });
  if (wrong !== undefined) throw new Refused('invalid_request', wrong.text);
}

/** The key a request is to be kept under; undefined where none is honoured. Throws `invalid_request`. */
export function honouredKey(route: Route, header: string | undefined): string | undefined {
  if (header === undefined || route.surface === 'admin' || route.row.method !== 'POST') return undefined;
  if (/^[\x20-\x7e]+$/.test(header) && header.length <= LIMITS.idempotencyKey.max) return header;
  throw new Refused(
    'invalid_request',
    `An idempotency key has 1 to ${LIMITS.idempotencyKey.max} printable ASCII characters.`,
  );
}
