/** The service of the contract over HTTP: typed calls of a table of operations. */
import type { NameIn, Table } from '../contract/calls.ts';
import type { InputOf, ListPage, Operation, ResultOf } from '../contract/operation.ts';
import { NO_OVERRIDES, type Overrides } from '../contract/overrides.ts';
import type { Answered, CallOptions, PlannedRequest, ServiceOf } from '../contract/service.ts';
import { CliError } from '../errors.ts';
import type { Clock, Environment, Randomness } from '../host.ts';
import { Secret } from '../secret.ts';
import { attempt, type Wire } from './attempt.ts';
import { planRequest, type Target } from './encode.ts';
import type { Verdict } from './judge.ts';
import { type ArrivedPage, type Row, walkPages } from './pages.ts';
import { createRedactor } from './redact.ts';
import { repeatWhileSafe } from './repeat.ts';
import { readAlready, type Settling, settleWrite } from './settle.ts';
import { createTransport, type Transport } from './transport.ts';

export interface ServiceConnection {
  /** `https://api.example.com/v1`, or with `socketPath` any http address with the same path. */
  readonly baseUrl: string;
  /** A Unix domain socket or named pipe in place of host and port. */
  readonly socketPath?: string | undefined;
  /** Asked once a request. */
  readonly key: () => Promise<Secret>;
}

export interface ServiceSettings<T extends Table> {
  readonly table: T;
  readonly connection: ServiceConnection;
  readonly overrides?: Overrides | undefined;
  readonly clock: Clock;
  readonly random: Randomness;
  /** Total of one attempt in milliseconds; 30 s for reads and 75 s for writes when left out. */
  readonly timeoutMs?: number | undefined;
  /** For the proxy variables. */
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
  /** Request line, redacted headers, status and time, a line at a time. */
  readonly onDebug?: ((line: string) => void) | undefined;
  /** Each text once. */
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly userAgent: string;
  readonly mode: 'sandbox' | 'test' | 'live';
}

type Values = Readonly<Record<string, unknown>>;

/** A call with what came of it, before the types of the table are put on. */
interface Done extends Omit<Answered<unknown>, 'result'> {
  readonly result: unknown;
  readonly next?: boolean | undefined;
}

/**
 * Speaks to the service. Nothing is loaded or sent before the first call. Every error is a `CliError` of the class
 * of RELIABILITY, section 1, with operation, status, the service's own words and the idempotency key.
 */
export function createService<T extends Table>(settings: ServiceSettings<T>): ServiceOf<T> {
  const calls = createCalls(settings);
  return {
    async send<N extends NameIn<T>>(operation: N, input: InputOf<T[N]>, options: CallOptions = {}) {
      const { next: _next, ...answered } = await calls.send(operation, input as Values, options);
      return answered as Answered<ResultOf<T[N]>>;
    },
    plan: (operation, input, options = {}) => calls.plan(operation, input as Values, options),
    pages: (operation, input) => calls.pages(operation, input as Values) as never,
    close: () => calls.close(),
  };
}

function createCalls(settings: ServiceSettings<Table>) {
  const { table, connection, clock, random, signal, timeoutMs, overrides = NO_OVERRIDES } = settings;
  const said = new Set<string>();
  const warn = (text: string) => {
    if (!said.has(text)) settings.onWarning?.(text);
    said.add(text);
  };
  let wire: Wire | undefined;
  const theWire = () => {
    wire ??= createWire(settings, warn);
    return wire;
  };

  const targetOf = (name: string): Target => {
    const row = Object.hasOwn(table, name) ? (table[name] as Operation) : undefined;
    if (row === undefined) throw new CliError('internal', { message: `no operation ${JSON.stringify(name)}` });
    return { name, row, overrides };
  };

  const plan = (operation: string, input: Values, options: CallOptions): PlannedRequest =>
    planRequest(targetOf(operation), input, { options, random });

  async function send(operation: string, input: Values, options: CallOptions): Promise<Done> {
    const target = targetOf(operation);
    const planned = plan(operation, input, options);
    const asked = { target, input };
    const signals = [signal, options.signal];
    const { redactor } = theWire();
    learnSecrets(redactor, target, input);
    const key = await connection.key();
    redactor.learn(key);
    const once = () => attempt(theWire(), { ...asked, plan: planned, key, signals });
    const verdict = await repeatWhileSafe(once, { clock, random, signals });
    const settling: Settling = {
      read: async (name, values) => (await send(name, values, { signal: options.signal })).result as Values,
      clock,
      random,
      timeoutMs,
      signal: options.signal ?? signal,
    };
    const { idempotencyKey } = planned;
    const done = (more: Pick<Done, 'result' | 'changed' | 'reread' | 'next'>, from: Verdict): Done => ({
      ...more,
      status: from.status ?? 0,
      requestId: from.requestId,
      idempotencyKey,
    });
    if (verdict.class === 'done') {
      const { result, next } = verdict.decoded;
      learnSecrets(redactor, target, result);
      return done({ result, next, changed: true, reread: false }, verdict);
    }
    if (verdict.class === 'unverified') {
      return done({ result: await settleWrite(asked, verdict, settling), changed: true, reread: true }, verdict);
    }
    if (verdict.class === 'refused') {
      const already = await readAlready(asked, verdict.error, settling);
      if (already !== undefined) return done({ result: already, changed: false, reread: true }, verdict);
    }
    throw stoppedOr(verdict.error, verdict.class, signals);
  }

  async function fetchPage(operation: string, input: Values): Promise<ArrivedPage> {
    const { result, next } = await send(operation, input, {});
    return { list: result as ListPage<Row>, ...(next !== undefined && { next }) };
  }

  return {
    plan,
    send,
    pages(operation: string, input: Values): AsyncIterable<ListPage<Row>> {
      const from = typeof input['page'] === 'number' ? input['page'] : 1;
      const fetch = (page: number) => fetchPage(operation, page === 1 ? input : { ...input, page });
      return walkPages({ from, fetch, warn, operation });
    },
    async close(): Promise<void> {
      await wire?.transport.close();
      wire = undefined;
    },
  };
}

function createWire(settings: ServiceSettings<Table>, warn: (text: string) => void): Wire {
  const { connection, clock, env, userAgent, timeoutMs, mode, onDebug } = settings;
  const baseUrl = new URL(connection.baseUrl);
  const transport: Transport = createTransport({ origin: baseUrl, socketPath: connection.socketPath, env, clock });
  const redactor = createRedactor();
  return {
    transport,
    baseUrl,
    clock,
    redactor,
    userAgent,
    timeoutMs,
    checkClock: mode !== 'sandbox',
    debug: onDebug,
    warn,
  };
}

/** Secrets that were sent or received must not come back in a message or a debug line. */
function learnSecrets(redactor: Wire['redactor'], { row }: Target, values: unknown): void {
  const shape = { ...row.body, ...row.returns.shape };
  const secret = Object.keys(shape).filter(name => shape[name]?.secret);
  if (secret.length === 0 || typeof values !== 'object' || values === null) return;
  const rows = 'data' in values && Array.isArray(values.data) ? (values.data as Values[]) : [values as Values];
  for (const value of rows.flatMap(each => secret.map(name => each[name]))) {
    if (value instanceof Secret) redactor.learn(value);
    else if (typeof value === 'string') redactor.learn(new Secret(value));
  }
}

/** A stop asked for by the user is the reason, unless a write is in the air: then not knowing is what matters. */
function stoppedOr(
  error: CliError,
  outcome: Verdict['class'],
  signals: readonly (AbortSignal | undefined)[],
): CliError {
  const stopped = signals.find(signal => signal?.aborted);
  const reason: unknown = stopped?.reason;
  if (!(reason instanceof CliError) || !['not_sent', 'read_failed'].includes(outcome)) return error;
  return outcome === 'not_sent' ? reason.with({ outcome: 'not_sent' }) : reason;
}
