/**
 * What was asked of the service, for whoever looks at a test that failed. A row in the transaction that counts the
 * request anyway; requests that write nothing are remembered in this process until somebody asks. Requests that
 * were refused before they were counted (route, key) are not in it.
 */
import type { Shape } from '../../contract/field.ts';
import type { Operation } from '../../contract/operation.ts';
import { faultText } from '../faults/applied-fault.ts';
import type { Answer } from '../http/answer.ts';
import type { AppliedFault, ParsedRequest } from '../http/request.ts';
import { insertRequest, KEPT_REQUESTS, type RequestRow } from '../store/requests.ts';
import { type Sql, type Store, StoreBusy } from '../store/sql.ts';
import { cleanText, keptParts, originOf, withoutFoundSecrets } from './kept-parts.ts';

export interface Answered {
  readonly requestId: string;
  /** ms UTC on the clock of the sandbox. */
  readonly now: number;
  /** Missing where something nobody expected happened. */
  readonly answer: Answer | undefined;
  readonly appliedFault: AppliedFault | undefined;
  /** Real ms from its arrival until its work was done. */
  readonly took: number;
}

/** Requests of this process that are in no store yet. */
export class RequestLog {
  #waiting: RequestRow[] = [];
  #timesForgotten = 0;

  keep(row: RequestRow): void {
    this.#waiting.push(row);
    if (this.#waiting.length >= 2 * KEPT_REQUESTS) this.#waiting = this.#waiting.slice(-KEPT_REQUESTS);
  }

  /** What waits, oldest first: it comes behind everything that is stored. */
  get waiting(): readonly RequestRow[] {
    return this.#waiting;
  }

  /** Forgets what waits, because the sandbox starts over. */
  forget(): void {
    this.#waiting = [];
    this.#timesForgotten += 1;
  }

  /** Writes what waits into the store. Where that cannot take it now, it waits on. */
  async flush({ store, account }: { readonly store: Store; readonly account: string }): Promise<void> {
    const rows = this.#waiting;
    if (rows.length === 0) return;
    this.#waiting = [];
    const forgotten = this.#timesForgotten;
    const write = async (sql: Sql) => {
      for (const row of rows.slice(-KEPT_REQUESTS)) await insertRequest(sql, account, row);
    };
    await store.write(write).catch((error: unknown) => {
      if (error instanceof StoreBusy && forgotten === this.#timesForgotten) this.#waiting = [...rows, ...this.#waiting];
      throw error;
    });
  }
}

export const logRequest = (sql: Sql, account: string, row: RequestRow) => insertRequest(sql, account, row);

/** A request and its answer as one row, secrets taken out. */
export function requestRow(
  parsed: ParsedRequest,
  { requestId, now, answer, appliedFault, took }: Answered,
): RequestRow {
  const { route, params, query, bodyRead } = parsed;
  const card = params['card_id'] ?? query['card_id'] ?? bodyRead?.['card_id'] ?? madeCard(route.row, answer);
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
  const shown = status < 400 ? withoutSecrets(row.returns.shape, body) : withoutPaths(body);
  // A part of a text would keep all of it in memory: the part is copied.
  const start = shown.length > LONGEST_ANSWER ? Buffer.from(shown.slice(0, LONGEST_ANSWER)).toString() : shown;
  return withoutFoundSecrets(start).replaceAll('\0', '').toWellFormed();
}

/** As bodies are kept: without secret fields, of an address only where it leads to. */
function withoutSecrets(shape: Shape, body: string): string {
  const isSecret = Object.values(shape).some(({ secret }) => secret);
  if (!isSecret && !Object.hasOwn(shape, 'url')) return body;
  const members = JSON.parse(body) as Record<string, unknown>;
  for (const [name, { wire = name, secret }] of Object.entries(shape)) if (secret) delete members[wire];
  if (Object.hasOwn(members, 'url')) members['url'] = originOf(members['url']);
  return JSON.stringify(members);
}

/** An error may repeat the address that was sent. */
function withoutPaths(body: string): string {
  return body.replace(/(https?:\/\/[^\s"\\/?#]+)[^\s"\\]*/g, '$1');
}
