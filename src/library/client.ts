/** `cardwright/client`, for programs: typed calls and the check of deliveries. Its types stand in scripts/library-client.d.cts. */
import { randomBytes } from 'node:crypto';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createService } from '../client/api.ts';
import { isWrite } from '../client/encode.ts';
import { isJournaled, type WriteName } from '../contract/calls.ts';
import { type InputFields, must, type Shape } from '../contract/field.ts';
import type { Operation } from '../contract/operation.ts';
import { OPERATIONS } from '../contract/operations.ts';
import { flag, integer, text } from '../contract/own-field.ts';
import { verifyPayload } from '../contract/signature/signature.ts';
import { shapeProblem } from '../contract/violation.ts';
import { DAY, REQUEST_TOTAL_MS } from '../core/durations.ts';
import { CliError, notSent, usage } from '../core/errors.ts';
import { centsOf } from '../core/money.ts';
import { isObject, type Values, withoutUndefined } from '../core/objects.ts';
import { Secret } from '../core/secret.ts';
import { type FolderFacts, foldersFor } from '../platform/folders.ts';
import { checkBaseUrl, keyMode, readKey } from '../profile/parts.ts';
import type { ChosenJournal, openNamedCalls } from './journal.ts';

declare const CARDWRIGHT_VERSION: string;

/** Options of `createClient` that are values of JSON; all of them are described in scripts/library-client.d.cts. */
const CLIENT_OPTIONS = {
  apiKey: must(text('')),
  baseUrl: must(text('')),
  live: flag(''),
  socketPath: text(''),
  // Timers of Node know no more than 24 days.
  timeoutMs: integer('', { min: 1, max: DAY }),
  journal: text(''),
  journalPasswordFile: text(''),
  journalFolder: text(''),
} as const;

/** Options of one call. */
const CALL_OPTIONS = { idempotencyKey: text(''), intent: text('') } as const;

type Options = InputFields<typeof CLIENT_OPTIONS> & { readonly onWarning?: ((text: string) => void) | undefined };
type Calling = InputFields<typeof CALL_OPTIONS> & { readonly signal?: AbortSignal | undefined };

/** The error of every method; its members are described in scripts/library-client.d.cts. */
export class CardwrightError extends Error {
  override readonly name = 'CardwrightError';

  constructor({ kind, facts }: CliError) {
    const { message, cause, outcome, operation, httpStatus, service, idempotencyKey, retryAfterMs, op } = facts;
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { kind, outcome, operation, httpStatus, service, idempotencyKey, retryAfterMs, op });
  }
}

/** The time of the program as it is when it is asked: one that plays another time means that of its journal too. */
const OWN_CLOCK = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, signal && { signal }),
};

/** A client of the service; options and methods are described in scripts/library-client.d.cts. */
export function createClient(options: Options) {
  const { service, sendOne, closeJournal } = inOurError(() => partsOf(options));
  const underWay = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;
  /** Begins at once; nothing begins behind the end of the client. */
  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (closing !== undefined) asOurs(usage('this client is closed'));
    const done = work();
    underWay.add(done);
    try {
      return await done;
    } catch (error) {
      return asOurs(error);
    } finally {
      underWay.delete(done);
    }
  }
  const close = () => {
    closing ??= Promise.allSettled(underWay)
      .then(closeJournal)
      .finally(() => service.close());
    return closing;
  };
  return {
    send: async (operation: string, input: Values = {}, calling: Calling | null = {}) =>
      run(() => sendOne(operation, input, calling)),
    async *pages(operation: string, input: Values = {}) {
      const pages = inOurError(() => service.pages(operation as never, askedOf(operation, input) as never));
      const turned = pages[Symbol.asyncIterator]();
      for (;;) {
        const next = await run(() => turned.next());
        if (next.done === true) return;
        const { data, page } = next.value;
        yield { data, page };
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Throws `usage` and `guarded` for options that cannot be used. */
function partsOf(options: Options) {
  needObject('the options of createClient', options);
  const { onWarning, ...given } = options;
  checkOptions(given, CLIENT_OPTIONS);
  if (onWarning !== undefined && typeof onWarning !== 'function') throw usage('onWarning must be a function');
  const { apiKey, baseUrl: address, socketPath, timeoutMs } = given;
  const key = readKey(apiKey);
  const mode = keyMode(key);
  if (mode === 'live' && options.live !== true) throw notSent('guarded', 'this is a live key; say live: true');
  const baseUrl = checkBaseUrl(address, mode).href;
  const journal = chosenJournal(options, process);
  const { platform, pid } = process;
  const random = { bytes: (count: number) => randomBytes(count), fraction: () => Math.random() };
  const own = { platform, pid, clock: OWN_CLOCK, random, key, mode, baseUrl };
  const service = createService({
    table: OPERATIONS,
    connection: { baseUrl, socketPath, key: async () => key },
    clock: OWN_CLOCK,
    random,
    env: process.env,
    timeoutMs,
    onWarning,
    isProgram: false,
    userAgent: `cardwright-client/${CARDWRIGHT_VERSION}`,
    mode,
  });

  const notice = onWarning ?? (() => undefined);
  /** Throws `guarded` where a command or program of this user has used a shared journal for this account. */
  async function refusePastShared(): Promise<void> {
    const { refuseBesideShared } = await import('../journal/seen-journals.ts');
    for (const folder of new Set([ownStateFolder(process), journal?.stateFolder]))
      if (folder !== undefined) await refuseBesideShared(folder, { platform, random, warn: notice }, async () => key);
  }

  let named: ReturnType<typeof openNamedCalls> | undefined;
  /** Throws `usage` without a journal: a promise without one is none. */
  async function namedCalls() {
    if (journal === undefined)
      throw usage('an intent needs a journal: createClient({ …, journal: "/absolute/folder" })');
    const { openNamedCalls } = await import('./journal.ts');
    named ??= openNamedCalls({ ...own, service, writeTotalMs: timeoutMs ?? REQUEST_TOTAL_MS.write, notice }, journal);
    return named;
  }

  async function sendUnnamed(operation: string, input: Values, { idempotencyKey: key, signal }: Calling) {
    if (!isWrite(rowOf(operation)))
      return (await service.send(operation as never, input as never, { signal })).result as unknown;
    if (journal !== undefined && operation !== 'cards.freeze') await (await namedCalls()).admitUnkept(signal);
    const { directWrite } = await import('../journal/direct.ts');
    const planned = service.plan(operation as never, input as never, { key });
    const wanted = { operation: operation as WriteName, input, planned, keyOfCaller: key !== undefined };
    const given = { ...own, service, signal: signal ?? new AbortController().signal };
    return (await directWrite({ ...wanted, ...given })).result;
  }

  const oneAfterTheOther = oneAtATime();
  /** One call, behind those of its card and its intent; it joins their queues at once. */
  async function sendOne(operation: string, input: Values, calling: Calling | null): Promise<unknown> {
    const { signal, ...given } = calling ?? {};
    if (calling !== null) needObject('the options of a call', calling);
    // A misspelt option would be a promise that nobody keeps.
    checkOptions(given, CALL_OPTIONS);
    // By what is used of it: that of a test environment is of another class.
    if (signal !== undefined && typeof signal?.addEventListener !== 'function')
      throw usage('signal must be an AbortSignal');
    const { idempotencyKey: key, intent } = given;
    const asked = askedOf(operation, input);
    // What went past the journal would be known to none of its caps and other calls.
    if (journal !== undefined && intent === undefined && isJournaled(operation)) {
      const call = `send(${JSON.stringify(operation)}, …, { intent: "order-4711" })`;
      throw notSent('usage', `this client has a journal, so ${operation} needs an intent: ${call}`, { operation });
    }
    const sending = async () => {
      if (isJournaled(operation) && journal?.database === undefined) await refusePastShared();
      return intent === undefined
        ? sendUnnamed(operation, asked, { ...given, signal })
        : (await namedCalls()).send({ operation: operation as never, input: asked as never, intent, key, signal });
    };
    const inTurn = (name: string | undefined, work: typeof sending) =>
      name === undefined ? work() : oneAfterTheOther(name, work, signal);
    // Another one meanwhile would hide what its balance shows (docs/design/reliability.md, section 3).
    const { card_id: id } = asked;
    const card = rowOf(operation).transfer !== undefined && typeof id === 'string' ? id : undefined;
    // Of one purchase that is asked for several times at once the later calls get what came of the first.
    const purchase = intent === undefined ? undefined : `intent ${intent}`;
    return openly(await inTurn(purchase, () => inTurn(card, sending)));
  }

  return { service, sendOne, closeJournal: async () => (await named)?.close() };
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
    const isText = (each: unknown) => typeof each === 'string';
    if (![signature ?? []].flat().every(isText)) throw missing('signature', 'text', signature);
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

function rowOf(operation: string): Operation {
  if (Object.hasOwn(OPERATIONS, operation)) return OPERATIONS[operation as keyof typeof OPERATIONS];
  throw usage(`there is no operation ${JSON.stringify(operation)}`);
}

/** USD of the caller to cents; everything else as it is. */
function askedOf(operation: string, input: Values): Values {
  const row = rowOf(operation);
  needObject('the input', input);
  const shape: Shape = { ...row.params, ...row.query, ...row.body };
  const entries = Object.entries(input).map(([name, value]) => {
    const isMoney = shape[name]?.kind === 'money' && typeof value === 'number';
    const amount = isMoney ? centsOf(value) : value;
    if (isMoney && amount === undefined) throw usage(`${name} is not USD with at most two decimals`);
    return [name, amount] as const;
  });
  return Object.fromEntries(entries);
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

/**
 * Works of one name go one after the other, in the order in which they came; those of other names beside them. A work that
 * waits and is cancelled begins at once: it sees its signal, and says itself what that means. Rejects as the work does.
 */
function oneAtATime() {
  const last = new Map<string, Promise<unknown>>();
  return <T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
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

// What a program hands over: checked by its form, and never repeated, as it may be a secret. Nothing is opened here.

/** Undefined where none is named. Throws `usage` for what cannot be used. */
function chosenJournal(
  { journal, journalPasswordFile, journalFolder }: InputFields<typeof CLIENT_OPTIONS>,
  own: Pick<FolderFacts, 'env' | 'platform'>,
): ChosenJournal | undefined {
  const folder = (name: string, path: string) => absolute(name, path, 'a folder');
  if (journal === undefined || !/^postgres(?:ql)?:/i.test(journal)) {
    for (const [name, value] of Object.entries({ journalPasswordFile, journalFolder })) {
      if (value !== undefined) throw usage(`${name} is for a journal in a database: journal: "postgres://…"`);
    }
    return journal === undefined ? undefined : { stateFolder: folder('journal', journal) };
  }
  const password = journalPasswordFile && absolute('journalPasswordFile', journalPasswordFile, 'a file');
  const stateFolder = journalFolder === undefined ? ownStateFolder(own) : folder('journalFolder', journalFolder);
  if (stateFolder === undefined)
    throw usage('this user has no state folder, so journalFolder must name one: an absolute path');
  return {
    stateFolder,
    database: { url: journal, env: password === undefined ? own.env : { ...own.env, PGPASSFILE: password } },
  };
}

function absolute(name: string, path: string, of: string): string {
  if (!isAbsolute(path)) throw usage(`${name} must be the absolute path of ${of}`);
  return path;
}

/** That of the command line for this user; undefined for a user without a home. */
function ownStateFolder({ env, platform }: Pick<FolderFacts, 'env' | 'platform'>): string | undefined {
  const moved = env['CARDWRIGHT_CONFIG_DIR'];
  if (moved !== undefined && !isAbsolute(moved)) return undefined;
  const { state } = foldersFor({ env, platform, home: homeOrNone(), temporary: tmpdir() });
  return isAbsolute(state) ? state : undefined;
}

function homeOrNone(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}

/** Throws `usage` for a name that is not there, and for a value of another form. What is undefined counts as left out. */
function checkOptions(given: object, shape: Shape): void {
  const problem = shapeProblem(shape, withoutUndefined(given));
  if (problem !== undefined) throw usage(`${problem.field} ${problem.text}`);
}

function needObject(name: string, value: unknown): asserts value is object {
  if (!isObject(value)) throw missing(name, 'an object', value);
}

function missing(name: string, form: string, value: unknown): CliError {
  return usage(value === undefined || value === null ? `${name} is missing` : `${name} must be ${form}`);
}
