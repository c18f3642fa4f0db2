/** What is kept of requests: no secret, no card number, and the names of the parts that are not as they were sent. */
import type { Shape } from '../../contract/field.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Operation } from '../../contract/operation.ts';
import { withoutCardNumbers } from '../../core/card-numbers.ts';
import { REDACTED, withoutPatterns } from '../../core/redaction.ts';
import { faultText } from '../faults/faults.ts';
import type { Answer } from '../http/answer.ts';
import type { AppliedFault, ParsedRequest } from '../http/request.ts';
import type { Store } from '../store/queue.ts';
import { insertRequest, KEPT_REQUESTS, type RequestRow } from '../store/rows.ts';
import { type Sql, StoreBusy, takeCounts } from '../store/sql.ts';

/** So many parts are named: a body may have thousands of fields that nobody knows. */
const MOST_NAMED = 40;
/** Members of an object or a list in a body. */
const MOST_ENTRIES = 20;

/** The columns of a logged request that were written by its sender. */
function keptParts({ route: { row }, path, queryText, keySent, headers, body: sent }: ParsedRequest) {
  const notKept: string[] = [];
  const kept = <T>(part: string, sent: unknown, left: T): T => {
    const isKept = sent === left || JSON.stringify(sent) === JSON.stringify(left);
    if (!isKept && notKept.length < MOST_NAMED) notKept.push(part);
    return left;
  };
  /** Members that the row knows, but for secrets; of an address only where it leads to. Of others the names are told. */
  const members = (part: 'query' | 'body', shape: Shape = {}, sent: readonly (readonly [string, unknown])[]) =>
    sent.flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
      const isKnown = Object.hasOwn(shape, name) && !shape[name]?.secret;
      if (!isKnown) return kept(`${part}.${cleanText(name)}`, name, []);
      return [[name, kept(`${part}.${name}`, value, name === 'url' ? originOf(value) : keptValue(value))]];
    });
  // 0 without a body, null where its length was not announced.
  const announced = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.NaN;
  const body_bytes = Number.isSafeInteger(announced) ? announced : null;
  const keptPath = kept('path', path, cleanText(path));
  const query = members('query', row.query, [...new URLSearchParams(queryText)]);
  const isQueryWhole = PLAIN.test(queryText) && !notKept.some(part => part.startsWith('query.'));
  if (sent === undefined && body_bytes !== 0) notKept.push('body');
  const body = members('body', row.body, Object.entries(sent ?? {}));
  const idempotency_key = keySent === undefined ? null : kept('idempotency_key', keySent, keptKey(keySent));
  return {
    path: keptPath,
    query: queryText === '' ? null : isQueryWhole ? queryText : `${new URLSearchParams(query as [string, string][])}`,
    idempotency_key,
    request_headers: keptHeaders(headers),
    body: body.length === 0 ? null : JSON.stringify(Object.fromEntries(body)),
    body_bytes,
    not_kept: JSON.stringify(notKept),
  };
}

/** A text without secrets, and what of a list or an object is kept; other values are as they were. */
function keptValue(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  const clean = (entry: unknown) => cleanText(typeof entry === 'string' ? entry : JSON.stringify(entry));
  if (Array.isArray(value)) return value.slice(0, MOST_ENTRIES).map(clean);
  const entries = Object.entries(value).slice(0, MOST_ENTRIES);
  return Object.fromEntries(entries.map(([name, entry]) => [cleanText(name), clean(entry)]));
}

/** A path or a query of an address may be a password of its own. */
function originOf(value: unknown): string {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value).origin : '[no address]';
}

/** Headers that say how a request was made. */
const KEPT_HEADERS = [
  ...['accept', 'accept-encoding', 'content-length', 'content-type', 'transfer-encoding', 'user-agent'],
  ...['x-idempotency-key', 'x-sandbox-fault'],
];

function keptHeaders(headers: ParsedRequest['headers']): string {
  const kept: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') kept[name] = name === 'x-idempotency-key' ? keptKey(value) : cleanText(value);
  }
  return JSON.stringify(kept);
}

/** Tokens as they are made; a shorter `sandbox_` is a word of somebody's own. */
const TOKEN = /(sandbox_)[A-Za-z0-9_-]{32,}/g;
/** Card numbers, also those a check digit does not prove. */
const NUMBER = /(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g;

const withoutKeys = (text: string) => withoutPatterns(text).replace(TOKEN, `$1${REDACTED}`);
/** The text without secrets and card numbers, however long. */
const withoutFoundSecrets = (text: string) => withoutKeys(text).replace(NUMBER, REDACTED);

/**
 * An idempotency key as the log has it. It is no secret and is kept exactly: what is sent again under another key is done
 * again. Only a key that holds a secret or what may be a card number is masked; its last four digits keep such keys apart.
 */
export function keptKey(key: string): string {
  const clean = withoutKeys(key);
  const left = withoutCardNumbers(clean);
  const mark = left === clean ? '' : `~${clean.replace(/\D/g, '').slice(-4)}`;
  return `${left.slice(0, LIMITS.idempotencyKey.max)}${mark}`.replaceAll('\0', '').toWellFormed();
}

const LONGEST = 200;
/** Short, and of no characters but those every engine stores. */
const PLAIN = /^[\x20-\x7e]{0,200}$/;

/** Text that may be stored: no secret, no character an engine refuses, not too long. */
export function cleanText(text: string): string {
  return withoutFoundSecrets(text).slice(0, LONGEST).replaceAll('\0', '').toWellFormed();
}

// What was asked of the service, for whoever looks at a test that failed. A row in the transaction that counts the request anyway; requests that write nothing are remembered in this process until somebody asks. Requests that were refused before they were counted (route, key) are not in it.

interface Answered {
  readonly requestId: string;
  /** ms UTC on the clock of the sandbox. */
  readonly now: number;
  /** Missing where something nobody expected happened. */
  readonly answer: Answer | undefined;
  readonly appliedFault: AppliedFault | undefined;
  /** Real ms from its arrival until its work was done. */
  readonly took: number;
}

const LARGEST_BLOCK = 1024;

/** Requests of this process that write nothing: their rows, in no store yet, and their numbers, which the store gives in blocks so that each is given out once. */
export class RequestLog {
  #waiting: RequestRow[] = [];
  #timesForgotten = 0;
  #next = 0;
  #end = 0;
  #block = 1;
  #taking: Promise<void> | undefined;

  keep(row: RequestRow): void {
    this.#waiting.push(row);
    if (this.#waiting.length >= 2 * KEPT_REQUESTS) this.#waiting = this.#waiting.slice(-KEPT_REQUESTS);
  }

  /** What waits, oldest first: it comes behind everything that is stored. */
  get waiting(): readonly RequestRow[] {
    return this.#waiting;
  }

  /** The next number, from 1. The first blocks are small: most commands make one request. */
  async nextNumber({ store }: { readonly store: Store }): Promise<number> {
    while (this.#next >= this.#end) {
      this.#taking ??= this.#take(store).finally(() => {
        this.#taking = undefined;
      });
      await this.#taking;
    }
    return ++this.#next;
  }

  async #take(store: Store): Promise<void> {
    const size = this.#block;
    const last = await store.write(sql => takeCounts(sql, { name: 'req', count: size }));
    this.#next = last - size;
    this.#end = last;
    this.#block = Math.min(LARGEST_BLOCK, size * 2);
  }

  /** Forgets what waits and the numbers that are left, because the sandbox starts over. */
  forget(): void {
    this.#waiting = [];
    this.#timesForgotten += 1;
    this.#next = this.#end;
    this.#block = 1;
  }

  /** Writes what waits into the store. Where that cannot take it now, it waits on. */
  async flush({ store }: { readonly store: Store }): Promise<void> {
    const rows = this.#waiting;
    if (rows.length === 0) return;
    this.#waiting = [];
    const forgotten = this.#timesForgotten;
    const write = (sql: Sql) => {
      for (const row of rows.slice(-KEPT_REQUESTS)) insertRequest(sql, row);
    };
    await store.write(write).catch((error: unknown) => {
      if (error instanceof StoreBusy && forgotten === this.#timesForgotten) this.#waiting = [...rows, ...this.#waiting];
      throw error;
    });
  }
}

/** Its number in the log; null of one that is in no store yet. */
export type KeptRequest = RequestRow & { readonly position: number | null };

/** What is kept, oldest first. What waits in this process pushes as many stored ones out as it will when it is written. */
export function keptRequests(sql: Sql, { waiting }: RequestLog): readonly KeptRequest[] {
  const stored = sql.all<KeptRequest>('select * from requests order by position');
  return [...stored, ...waiting.map(row => ({ ...row, position: null }))].slice(-KEPT_REQUESTS);
}

/** A request and its answer as one row, secrets taken out. */
export function requestRow(
  parsed: ParsedRequest,
  { requestId, now, answer, appliedFault, took }: Answered,
): RequestRow {
  const { route, params, query, body } = parsed;
  const card = params['card_id'] ?? query['card_id'] ?? body?.['card_id'] ?? madeCard(route.row, answer);
  const { status, error } = meant(answer, appliedFault);
  return {
    request_id: requestId,
    at: now,
    operation: route.name,
    method: route.row.method,
    status,
    error,
    replayed: answer?.headers['Idempotent-Replayed'] === undefined ? 0 : 1,
    fault: appliedFault === undefined ? null : faultText(appliedFault),
    card_id: typeof card === 'string' ? cleanText(card) : null,
    answer: answer === undefined ? null : keptAnswer(route.row, answer),
    key_last4: parsed.keyLast4,
    took,
    ...keptParts(parsed),
  };
}

/** A card that was made is told by the answer alone. */
function madeCard({ makes }: Operation, answer: Answer | undefined): string | undefined {
  if (makes !== 'card' || answer === undefined || answer.status >= 400) return undefined;
  return /^\{"id":"([^"]+)"/.exec(answer.body)?.[1];
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

const LONGEST_ANSWER = 4_096;

/** Answers to what changed something, and errors: of a read there are too many, and it can be made again. */
function keptAnswer(row: Operation, { status, body }: Answer): string | null {
  if (body === '' || (status < 400 && (row.method === 'GET' || row.effect === 'reveals-secret'))) return null;
  // An error may repeat the address that was sent.
  const shown =
    status < 400 ? withoutSecrets(row.returns.shape, body) : body.replace(/(https?:\/\/[^\s"\\/?#]+)[^\s"\\]*/g, '$1');
  // A part of a text would keep all of it in memory: the part is copied.
  const start = shown.length > LONGEST_ANSWER ? Buffer.from(shown.slice(0, LONGEST_ANSWER)).toString() : shown;
  return withoutFoundSecrets(start).replaceAll('\0', '').toWellFormed();
}

/** How bodies are kept: without secret fields, of an address only where it leads to. */
function withoutSecrets(shape: Shape, body: string): string {
  const isSecret = Object.values(shape).some(({ secret }) => secret);
  if (!isSecret && !Object.hasOwn(shape, 'url')) return body;
  const members = JSON.parse(body) as Record<string, unknown>;
  for (const [name, { wire = name, secret }] of Object.entries(shape)) if (secret) delete members[wire];
  if (Object.hasOwn(members, 'url')) members['url'] = originOf(members['url']);
  return JSON.stringify(members);
}
