/** `cardwright/client`, for programs: typed calls and the check of deliveries. Its types stand in scripts/library-client.d.cts. */
import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createService } from '../client/api.ts';
import { isWrite } from '../client/encode.ts';
import type { WriteName } from '../contract/calls.ts';
import type { Shape } from '../contract/field.ts';
import type { Operation } from '../contract/operation.ts';
import { OPERATIONS } from '../contract/operations.ts';
import { isJournaled } from '../contract/raw.ts';
import type { Service } from '../contract/service.ts';
import { CliError, notSent, usage } from '../core/errors.ts';
import { toCents } from '../core/money.ts';
import { Secret } from '../core/secret.ts';
import { verifyPayload } from '../events/verify.ts';
import { checkBaseUrl, keyMode, readKey } from '../profile/parts.ts';
import type { OwnProcess } from './journal.ts';
import {
  type Check,
  checkOptions,
  chosenJournal,
  isAbsent,
  isText,
  type JournalOptions,
  missing,
  namedCalls,
  needBoolean,
  needFunction,
  needMilliseconds,
  needObject,
  needSignal,
  needText,
  wrongly,
} from './named-calls.ts';

declare const CARDWRIGHT_VERSION: string;

type Values = Readonly<Record<string, unknown>>;

interface Options extends JournalOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly live?: boolean;
  readonly socketPath?: string;
  readonly timeoutMs?: number;
  readonly onWarning?: (text: string) => void;
}

interface Calling {
  readonly idempotencyKey?: string;
  readonly intent?: string;
  readonly signal?: AbortSignal;
}

const OPTIONS = {
  baseUrl: needText,
  apiKey: needText,
  live: needBoolean,
  socketPath: needText,
  timeoutMs: needMilliseconds,
  onWarning: needFunction,
  journal: needText,
  journalPasswordFile: needText,
  journalFolder: needText,
} as const satisfies Readonly<Record<keyof Options, Check>>;

const CALLING = { idempotencyKey: needText, intent: needText, signal: needSignal } as const satisfies Readonly<
  Record<keyof Calling, Check>
>;

/** The error of every method; its members are described in scripts/library-client.d.cts. */
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

/** Of one write, ms, where the caller does not say otherwise. */
const WRITE_TOTAL_MS = 75_000;

/** The process of the program, as it is when a client is made. */
const ownProcess = (): OwnProcess => ({
  platform: process.platform,
  pid: process.pid,
  clock: {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms, signal) => sleep(ms, undefined, signal && { signal }),
  },
  random: { bytes: count => randomBytes(count), fraction: () => Math.random() },
});

/** A client of the service; options and methods are described in scripts/library-client.d.cts. */
export function createClient(options: Options) {
  const { service, named, sendOne } = inOurError(() => partsOf(options));
  const calls = openCalls();
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= calls
      .end()
      .then(() => named.close())
      .finally(() => service.close());
    return closing;
  };
  return {
    async send(operation: string, input: Values = {}, calling: Calling | null = {}) {
      return calls.run(() => sendOne(operation, input, calling)).catch(asOurs);
    },
    async *pages(operation: string, input: Values = {}) {
      try {
        const pages = service.pages(operation as never, askedOf(operation, input) as never)[Symbol.asyncIterator]();
        for (;;) {
          const next = await calls.run(() => pages.next());
          if (next.done === true) return;
          const { data, page } = next.value;
          yield { data, page };
        }
      } catch (error) {
        asOurs(error);
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Throws `usage` and `guarded` for options that cannot be used. */
function partsOf(options: Options) {
  needObject('the options of createClient', options);
  needText('apiKey', options.apiKey);
  needText('baseUrl', options.baseUrl);
  checkOptions(options, OPTIONS);
  const { socketPath, timeoutMs, onWarning } = options;
  const { key, mode, baseUrl, journal } = accountOf(options);
  const around = { ...ownProcess(), key, mode, baseUrl };
  const service = createService({
    table: OPERATIONS,
    connection: { baseUrl, socketPath, key: async () => key },
    clock: around.clock,
    random: around.random,
    env: process.env,
    timeoutMs,
    onWarning,
    isProgram: false,
    userAgent: `cardwright-client/${CARDWRIGHT_VERSION}`,
    mode,
  });
  const notice = onWarning ?? (() => undefined);
  const named = namedCalls({ ...around, service, writeTotalMs: timeoutMs ?? WRITE_TOTAL_MS, notice }, journal);
  return { service, named, sendOne: senderOf(service, named, { ...around, hasJournal: journal !== undefined }) };
}

/** One call, behind those of its card and its intent; it joins their queues at once. */
function senderOf(
  service: Service,
  named: ReturnType<typeof namedCalls>,
  { mode, clock, random, hasJournal }: OwnProcess & { readonly mode: 'test' | 'live'; readonly hasJournal: boolean },
) {
  const oneAfterTheOther = oneAtATime();
  const sendUnnamed = async (operation: string, asked: Values, key?: string, signal?: AbortSignal) => {
    if (!isWrite(OPERATIONS[operation as keyof typeof OPERATIONS]))
      return (await service.send(operation as never, asked as never, { signal })).result as unknown;
    const { directWrite } = await import('../journal/direct.ts');
    const planned = service.plan(operation as never, asked as never, { key });
    const wanted = { operation: operation as WriteName, input: asked, planned, keyOfCaller: key !== undefined };
    const given = { service, mode, clock, random, signal: signal ?? new AbortController().signal };
    return (await directWrite({ ...wanted, ...given })).result;
  };
  return async (operation: string, input: Values, calling: Calling | null): Promise<unknown> => {
    const { idempotencyKey: key, intent, signal } = callingOf(calling);
    const asked = askedOf(operation, input);
    // What went past the journal would be known to none of its caps and other calls.
    if (hasJournal && intent === undefined && isJournaled(operation)) {
      const call = `send(${JSON.stringify(operation)}, …, { intent: "order-4711" })`;
      throw wrongly(`this client has a journal, so ${operation} needs an intent: ${call}`, operation);
    }
    const sending = async () =>
      intent === undefined
        ? sendUnnamed(operation, asked, key, signal)
        : named.send({ operation: operation as never, input: asked as never, intent, key, signal });
    const inTurn = (name: string | undefined, work: typeof sending) =>
      name === undefined ? work() : oneAfterTheOther(name, work, signal);
    const card = movedCard(operation, asked);
    // Of one purchase that is asked for several times at once the later calls get what came of the first.
    const purchase = intent === undefined ? undefined : `intent ${intent}`;
    return openly(await inTurn(purchase, () => inTurn(card, sending)));
  };
}

/**
 * The card whose balance shows whether the operation was done: another one meanwhile
 * would hide it (docs/design/reliability.md, section 3).
 */
function movedCard(operation: string, asked: Values): string | undefined {
  const row = (OPERATIONS as Readonly<Record<string, Operation>>)[operation];
  const card = asked['card_id'];
  return row?.transfer !== undefined && typeof card === 'string' ? card : undefined;
}

/** Throws `usage`: a misspelt option would be a promise that nobody keeps. */
function callingOf(calling: Calling | null): Calling {
  if (calling === null) return {};
  needObject('the options of a call', calling);
  checkOptions(calling, CALLING);
  return calling;
}

/** Throws `usage` and `guarded` for an address, a key or a journal that cannot be used. */
function accountOf(options: Options) {
  const key = readKey(options.apiKey);
  const mode = keyMode(key);
  if (mode === 'live' && options.live !== true) {
    throw notSent('guarded', 'this is a live key; say live: true');
  }
  return { key, mode, baseUrl: checkBaseUrl(options.baseUrl, mode).href, journal: chosenJournal(options, process) };
}

/** Checks a delivery and reads its event; described in scripts/library-client.d.cts. */
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

/** USD of the caller to cents; everything else as it is. */
function askedOf(operation: string, input: Values): Values {
  const row = Object.hasOwn(OPERATIONS, operation)
    ? (OPERATIONS[operation as keyof typeof OPERATIONS] as Operation)
    : undefined;
  if (row === undefined) throw wrongly(`there is no operation ${JSON.stringify(operation)}`);
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
    throw usage(`${name} is not USD with at most two decimals`);
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

// The calls of a client that are under way, and the end of the client: none begins behind it.

function openCalls() {
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    /** Begins at once. Rejects with `usage` after `end()`, and as the work does. */
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (isClosed) throw wrongly('this client is closed');
      const done = work();
      underWay.add(done);
      try {
        return await done;
      } finally {
        underWay.delete(done);
      }
    },
    /** Resolves when those under way have ended, however. */
    async end(): Promise<void> {
      isClosed = true;
      await Promise.allSettled(underWay);
    },
  };
}

/** Works of one name go one after the other, in the order in which they came; those of other names beside them. */
type Queue = <T>(name: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * A work that waits and is cancelled begins at once: it sees its signal, and says itself what that means. Rejects as the
 * work does.
 */
export function oneAtATime(): Queue {
  const last = new Map<string, Promise<unknown>>();
  return (name, work, signal) => {
    const before = last.get(name);
    const done = before === undefined ? work() : endOf(before, signal).then(work);
    // Those behind a cancelled one still wait for the one before it.
    const both = Promise.allSettled([before, done]);
    last.set(name, both);
    void both.then(() => last.get(name) === both && last.delete(name));
    return done;
  };
}

/** Resolves when all before have ended, however, or when the signal is given. */
function endOf(before: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise(resolve => {
    const go = () => {
      signal?.removeEventListener('abort', go);
      resolve();
    };
    void before.then(go);
    if (signal?.aborted === true) go();
    signal?.addEventListener('abort', go);
  });
}
