/** `cardwright/client`, for programs: typed calls and the check of deliveries. Its types stand in scripts/library-client.d.cts. */
import { randomBytes } from 'node:crypto';
import { isAbsolute } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createService } from '../client/api.ts';
import type { Shape } from '../contract/field.ts';
import type { Operation } from '../contract/operation.ts';
import { OPERATIONS } from '../contract/operations.ts';
import { CliError } from '../core/errors.ts';
import { toCents } from '../core/money.ts';
import { Secret } from '../core/secret.ts';
import { verifyPayload } from '../events/verify.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import { checkBaseUrl } from '../profile/base-url.ts';
import { keyMode, readKey } from '../profile/key.ts';

declare const CARDWRIGHT_VERSION: string;

type Values = Readonly<Record<string, unknown>>;

interface Options {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly live?: boolean;
  readonly socketPath?: string;
  readonly timeoutMs?: number;
  readonly onWarning?: (text: string) => void;
  readonly journal?: string;
}

interface Calling {
  readonly idempotencyKey?: string;
  readonly intent?: string;
  readonly signal?: AbortSignal;
}

/** See scripts/library-client.d.cts. */
export class CardwrightError extends Error {
  override readonly name = 'CardwrightError';
  readonly kind: string;
  readonly outcome: string | undefined;
  readonly operation: string | undefined;
  readonly httpStatus: number | undefined;
  readonly service: unknown;
  readonly idempotencyKey: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly op: string | undefined;

  constructor({ kind, facts }: CliError) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = kind;
    this.outcome = facts.outcome;
    this.operation = facts.operation;
    this.httpStatus = facts.httpStatus;
    this.service = facts.service;
    this.idempotencyKey = facts.idempotencyKey;
    this.retryAfterMs = facts.retryAfterMs;
    this.op = facts.op;
  }
}

/** See scripts/library-client.d.cts. */
export function createClient(options: Options) {
  inOurError(() => {
    needObject('the options of createClient', options);
    needText('apiKey', options.apiKey);
    needText('baseUrl', options.baseUrl);
  });
  const { apiKey, live = false, socketPath, timeoutMs, onWarning, journal } = options;
  const connection = inOurError(() => {
    const key = readKey(apiKey);
    const mode = keyMode(key);
    if (mode === 'live' && !live) {
      throw new CliError('guarded', { message: 'this is a live key; say live: true', outcome: 'not_sent' });
    }
    if (journal !== undefined) checkJournal(journal);
    return { baseUrl: checkBaseUrl(options.baseUrl, mode).href, socketPath, key };
  });
  const clock: Clock = {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms, signal) => sleep(ms, undefined, signal && { signal }),
  };
  const random: Randomness = { bytes: count => randomBytes(count), fraction: () => Math.random() };
  const mode = live ? 'live' : 'test';
  const service = createService({
    table: OPERATIONS,
    connection: { ...connection, key: async () => connection.key },
    clock,
    random,
    env: process.env,
    timeoutMs,
    onWarning,
    isProgram: false,
    userAgent: `cardwright-client/${CARDWRIGHT_VERSION}`,
    mode,
  });
  const close = () => service.close();
  return {
    async send(operation: string, input: Values = {}, calling: Calling | null = {}) {
      const { idempotencyKey, intent, signal } = calling ?? {};
      const asked = inOurError(() => askedOf(operation, input));
      if (intent !== undefined) {
        const folder = inOurError(() => journalFor(journal, intent));
        const { sendNamed } = await import('./journal.ts');
        const around = { ...connection, folder, service, clock, random, mode, timeoutMs, onWarning } as const;
        const call = { operation: operation as never, input: asked as never, intent, key: idempotencyKey, signal };
        return openly(await sendNamed(around, call).catch(asOurs));
      }
      const sending = service.send(operation as never, asked as never, {
        key: idempotencyKey,
        keyOfCaller: idempotencyKey !== undefined,
        signal,
        readsBalancesBefore: true,
      });
      const { result } = await sending.catch(asOurs);
      return openly(result);
    },
    async *pages(operation: string, input: Values = {}) {
      const asked = inOurError(() => askedOf(operation, input));
      try {
        for await (const { data, page } of service.pages(operation as never, asked as never)) yield { data, page };
      } catch (error) {
        asOurs(error);
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** See scripts/library-client.d.cts. */
export function verifyWebhook(delivery: {
  payload: Uint8Array | string;
  signature: string | readonly string[] | null | undefined;
  secrets: readonly string[];
}) {
  inOurError(() => {
    needObject('the delivery of verifyWebhook', delivery);
    const { payload, signature, secrets } = delivery;
    if (typeof payload !== 'string' && !(payload instanceof Uint8Array))
      throw missing('payload', 'text or bytes', payload);
    if (!isAbsent(signature) && !(Array.isArray(signature) && signature.every(isText)))
      needText('signature', signature);
    if (!Array.isArray(secrets) || !secrets.every(isText)) throw missing('secrets', 'a list of texts', secrets);
  });
  const { payload, signature, secrets } = delivery;
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  const checked = verifyPayload(
    bytes,
    // What Node makes of a header that comes several times, as one text.
    typeof signature === 'string' ? signature : (signature ?? []).join(', '),
    secrets.map(secret => new Secret(secret)),
  );
  return checked.verified ? checked : { verified: false, mistakes: checked.explanations };
}

/** Throws `usage` for what is no folder of this machine. */
function checkJournal(journal: unknown): void {
  needText('journal', journal);
  if (/^postgres(?:ql)?:/i.test(String(journal))) {
    throw new CliError('usage', {
      message: 'journal must be a folder: a journal that several people share is not used by the client yet',
      outcome: 'not_sent',
    });
  }
  if (!isAbsolute(String(journal))) {
    throw new CliError('usage', { message: 'journal must be the absolute path of a folder', outcome: 'not_sent' });
  }
}

/** Throws `usage`: a promise without a journal is none. */
function journalFor(journal: string | undefined, intent: unknown): string {
  needText('intent', intent);
  if (journal !== undefined) return journal;
  throw new CliError('usage', {
    message: 'an intent needs a journal: createClient({ …, journal: "/absolute/folder" })',
    outcome: 'not_sent',
  });
}

const isText = (value: unknown) => typeof value === 'string';
const isAbsent = (value: unknown) => value === undefined || value === null;

function needObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw missing(name, 'an object', value);
}

function needText(name: string, value: unknown): void {
  if (!isText(value)) throw missing(name, 'text', value);
}

/** What was given is not repeated: it may be a secret. */
function missing(name: string, form: string, value: unknown): CliError {
  const message = isAbsent(value) ? `${name} is missing` : `${name} must be ${form}`;
  return new CliError('usage', { message, outcome: 'not_sent' });
}

/** USD of the caller to cents; everything else as it is. */
function askedOf(operation: string, input: Values): Values {
  const row = Object.hasOwn(OPERATIONS, operation)
    ? (OPERATIONS[operation as keyof typeof OPERATIONS] as Operation)
    : undefined;
  if (row === undefined) throw new CliError('usage', { message: `there is no operation ${JSON.stringify(operation)}` });
  needObject('the input', input);
  const shape: Shape = { ...row.params, ...row.query, ...row.body };
  const entries = Object.entries(input).map(([name, value]) => {
    const isMoney = shape[name]?.kind === 'money' && typeof value === 'number';
    return [name, isMoney ? centsIn(name, value) : value] as const;
  });
  return Object.fromEntries(entries);
}

function centsIn(name: string, value: number): number {
  try {
    return toCents(value);
  } catch {
    throw new CliError('usage', { message: `${name} is not USD with at most two decimals`, outcome: 'not_sent' });
  }
}

/** Number and code of a card are what was asked for by name. */
function openly(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result;
  const entries = Object.entries(result);
  if (!entries.some(([, value]) => value instanceof Secret)) return result;
  return Object.fromEntries(entries.map(([name, value]) => [name, value instanceof Secret ? value.expose() : value]));
}

function inOurError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return asOurs(error);
  }
}

function asOurs(error: unknown): never {
  throw error instanceof CliError ? new CardwrightError(error) : error;
}
