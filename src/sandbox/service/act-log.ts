/** What this process alone remembers: the newest changes, and the newest requests that it refused before they were counted. No export holds them, and they cost no write. */
import type { Shape } from '../../contract/field.ts';
import type { Answer } from '../http/answer.ts';
import type { Fields, Route } from '../http/request.ts';
import { cleanText } from './request-log.ts';

/** The newest things of a kind. */
export class Recent<T> {
  readonly #most: number;
  #kept: T[] = [];
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many there were, those that are forgotten too. */
  get count(): number {
    return this.#count;
  }

  keep(item: T): void {
    this.#count += 1;
    this.#kept.push(item);
    if (this.#kept.length >= 2 * this.#most) this.#kept = this.#kept.slice(-this.#most);
  }

  /** Oldest first. */
  all(): readonly T[] {
    return this.#kept.slice(-this.#most);
  }
}

/** A change: through the control surface always, through the service once somebody looks with the page. */
export interface Act {
  /** From 1, in this process. */
  readonly number: number;
  /** ms UTC on the clock of the sandbox. */
  readonly at: number;
  readonly surface: Route['surface'];
  readonly by: 'page' | 'program';
  readonly operation: string;
  /** The input that was asked for, money in USD; without secrets. */
  readonly input: Fields;
  /** Ids and outcomes of the answer. */
  readonly answer: Readonly<Record<string, string>>;
}

interface Done {
  readonly route: Route;
  readonly params: Fields;
  readonly body: Fields;
  readonly answer: Answer;
}

/** Input and answer of what was done, as they are kept. */
export function keptAct({ route: { name, surface, row }, params, body, answer }: Done) {
  const input = cleaned({ ...params, ...withoutSecrets(row.body ?? {}, body) }) as Fields;
  return { surface, operation: name, input, answer: idsIn(answer) };
}

function withoutSecrets(shape: Shape, body: Fields): Fields {
  const known = Object.entries(body).filter(([name]) => Object.hasOwn(shape, name) && !shape[name]?.secret);
  return Object.fromEntries(known);
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [cleanText(name), cleaned(entry)]));
}

const TOLD = /(?:^|_)id$|^(?:outcome|decline_reason)$/;

function idsIn({ body }: Answer): Readonly<Record<string, string>> {
  if (body === '') return {};
  const shown = Object.entries(JSON.parse(body) as Fields).filter(
    (entry): entry is [string, string] => TOLD.test(entry[0]) && typeof entry[1] === 'string',
  );
  return Object.fromEntries(shown);
}

/** A request to the service that another host, an unknown route or a wrong key turned away: none of them was counted. */
export interface RejectedRequest {
  /** ms UTC, real time. */
  readonly at: number;
  readonly method: string;
  /** Without its query and without secrets. */
  readonly path: string;
  readonly status: number;
  readonly error: string;
  readonly why: string;
  /** Form of the key that came with it, never its text. */
  readonly key: string;
}

/** What a header looks like: how it begins, and how long it is. */
export function keyForm(header: string | undefined): string {
  if (header === undefined) return 'none';
  const [, scheme = '', token] = /^(\S+) +(\S+)$/.exec(header) ?? [];
  if (token === undefined) return 'not of the form: Bearer <key>';
  if (!/^bearer$/i.test(scheme)) return 'not a Bearer key';
  const prefix = /^(?:sk_test_|sk_live_|whsec_|sandbox_)/.exec(token)?.[0];
  return `${prefix ?? 'another beginning,'}${prefix === undefined ? ' ' : '…, '}${token.length} characters`;
}
