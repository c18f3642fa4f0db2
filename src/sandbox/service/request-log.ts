/**
 * What was asked of the service, for whoever looks at a test that failed. A row in the transaction that counts the
 * request anyway; requests that write nothing are remembered in this process until somebody asks. Requests that
 * were refused before they were counted (route, key) are not in it.
 */
import type { Shape } from '../../contract/field.ts';
import { Refused } from '../calls/handler.ts';
import { faultText } from '../faults/applied-fault.ts';
import type { Answer } from '../http/answer.ts';
import type { AppliedFault, Fields, ParsedRequest } from '../http/request.ts';
import { insertRequest, KEPT_REQUESTS, type RequestRow } from '../store/requests.ts';
import type { Sql, Store } from '../store/sql.ts';

export interface Answered {
  readonly requestId: string;
  /** ms UTC on the clock of the sandbox. */
  readonly now: number;
  /** Missing where something nobody expected happened. */
  readonly answer: Answer | undefined;
  readonly appliedFault: AppliedFault | undefined;
}

/** Requests of this process that are in no store yet. */
export class RequestLog {
  #waiting: RequestRow[] = [];

  keep(row: RequestRow): void {
    this.#waiting.push(row);
    if (this.#waiting.length >= 2 * KEPT_REQUESTS) this.#waiting = this.#waiting.slice(-KEPT_REQUESTS);
  }

  /** Forgets what waits, because the sandbox starts over. */
  forget(): void {
    this.#waiting = [];
  }

  /** Writes what waits into the store. */
  async flush({ store, account }: { readonly store: Store; readonly account: string }): Promise<void> {
    const rows = this.#waiting;
    if (rows.length === 0) return;
    this.#waiting = [];
    await store.write(async sql => {
      for (const row of rows.slice(-KEPT_REQUESTS)) await insertRequest(sql, account, row);
    });
  }
}

export const logRequest = (sql: Sql, account: string, row: RequestRow) => insertRequest(sql, account, row);

/** A request and its answer as one row, secrets taken out. */
export function requestRow(parsed: ParsedRequest, { requestId, now, answer, appliedFault }: Answered): RequestRow {
  const { route, path, params, query, body, keySent } = parsed;
  const sent = body instanceof Refused ? undefined : body;
  const card = params['card_id'] ?? query['card_id'] ?? sent?.['card_id'];
  const kept = sent === undefined ? {} : keptBody(route.row.body ?? {}, sent);
  const { status, error } = meant(answer, appliedFault);
  return {
    request_id: requestId,
    at: now,
    operation: route.name,
    method: route.row.method,
    path: clean(path),
    status,
    error,
    replayed: answer?.headers['Idempotent-Replayed'] === undefined ? 0 : 1,
    fault: appliedFault === undefined ? null : faultText(appliedFault),
    idempotency_key: keySent === undefined ? null : clean(keySent),
    card_id: typeof card === 'string' ? clean(card) : null,
    body: Object.keys(kept).length === 0 ? null : JSON.stringify(kept),
  };
}

/** The status of the work where it was done, else that of the fault which kept it from being done. */
function meant(answer: Answer | undefined, appliedFault: AppliedFault | undefined) {
  if (answer === undefined) {
    const code = appliedFault?.action.kind === 'status' ? appliedFault.action.code : undefined;
    return {
      status: code ?? (appliedFault === undefined ? 500 : 503),
      error: appliedFault === undefined ? 'internal_error' : null,
    };
  }
  const { status, body } = answer;
  const error = status < 400 ? undefined : (JSON.parse(body) as { readonly error?: unknown }).error;
  return { status, error: typeof error === 'string' ? error : null };
}

const LONGEST = 200;
/** Short, and of no characters but those every engine stores. */
const PLAIN = /^[\x20-\x7e]{0,200}$/;
const MOST_ENTRIES = 20;

/** Fields the row knows, but for secrets; of an address only where it leads to. */
function keptBody(shape: Shape, body: Fields): Fields {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    if (!Object.hasOwn(shape, name) || shape[name]?.secret) continue;
    kept[name] = name === 'url' ? originOf(value) : keptValue(value);
  }
  return kept;
}

function keptValue(value: unknown): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, MOST_ENTRIES).map(entry => clean(textOf(entry)));
  const entries = Object.entries(value).slice(0, MOST_ENTRIES);
  return Object.fromEntries(entries.map(([name, entry]) => [clean(name), clean(textOf(entry))]));
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** A path or a query of an address may be a password of its own. */
function originOf(value: unknown): string {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value).origin : '[no address]';
}

const SECRETS: readonly [RegExp, string][] = [
  [/(sk_(?:live|test)_|whsec_|sandbox_)[A-Za-z0-9_+/=-]+/g, '$1[redacted]'],
  [/\b(Bearer|Basic)(?:\s|%20)+\S+/gi, '$1 [redacted]'],
  // Card numbers, also those a check digit does not prove.
  [/(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g, '[redacted]'],
];

/** Whatever one of them finds has this in it, which is looked for in one go: most texts hold no secret. */
const HINT = /sk_|whsec_|sandbox_|bearer|basic|\d[ -]?\d[ -]?\d[ -]?\d[ -]?\d[ -]?\d[ -]?\d[ -]?\d[ -]?\d/i;

/** Text that may be stored: no secret, no character an engine refuses, not too long. */
function clean(text: string): string {
  if (PLAIN.test(text) && !HINT.test(text)) return text;
  const plain = SECRETS.reduce((left, [pattern, instead]) => left.replace(pattern, instead), text);
  return plain.slice(0, LONGEST).replaceAll('\0', '').toWellFormed();
}
