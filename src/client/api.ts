/** The service of the contract over HTTP: typed calls of a table of operations. */
import type { NameIn, Table } from '../contract/calls.ts';
import type { Evidence } from '../contract/evidence.ts';
import type { InputOf, ListPage, Operation, ResultOf } from '../contract/operation.ts';
import { NO_OVERRIDES, type Overrides } from '../contract/overrides.ts';
import type {
  Answered,
  Attempt,
  AttemptOptions,
  CallOptions,
  PlannedRequest,
  ReadOptions,
  ServiceOf,
} from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import type { Clock, Environment, Randomness } from '../platform/host.ts';
import { isWrite, planRequest, type Target } from './encode.ts';
import { type ArrivedPage, type Row, repeatRead, type Traffic, type Wait, walkPages } from './read.ts';
import { createRedactor, learnSecrets, type Redactor } from './redact.ts';
import { attempt, attemptOf, type Interpretation, type Observed, type PageReading, type Wire } from './request.ts';
import { createTransport, type Transport } from './transport.ts';

export interface ServiceConnection {
  /** `https://api.example.com/v1`, or with `socketPath` any http address with the same path. */
  readonly baseUrl: string;
  /** A Unix domain socket or named pipe in place of host and port. */
  readonly socketPath?: string | undefined;
  /** Asked once a request. */
  readonly key: () => Promise<Secret>;
  /** Variables of the environment that name address and key, for the error where nobody listens there. */
  readonly variables?: readonly string[] | undefined;
}

export interface ServiceSettings<T extends Table> {
  readonly table: T;
  readonly connection: ServiceConnection;
  readonly overrides?: Overrides | undefined;
  readonly clock: Clock;
  readonly random: Randomness;
  /** Total of one attempt in milliseconds; 30 s for reads and 75 s for writes when left out. */
  readonly timeoutMs?: number | undefined;
  /** Shared with whoever prints what is said about these calls; one of its own when left out. */
  readonly redactor?: Redactor | undefined;
  /** For the proxy variables. */
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
  /** Request line, redacted headers, status and time, a line at a time. */
  readonly onDebug?: ((line: string) => void) | undefined;
  /** Told what every answer shows beside its content. */
  readonly onAnswer?: ((observed: Observed) => void) | undefined;
  /** Certificates to trust in place of Node's own list. */
  readonly authorities?: readonly string[] | undefined;
  /** Told that a request leaves; the result is called when its answer is there, or will not come. */
  readonly onAsk?: (() => () => void) | undefined;
  /** Told about every pause before another attempt. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
  /** Each text once. */
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly userAgent: string;
  /** False inside another program, whose engine is not ours to set. */
  readonly isProgram?: boolean;
  readonly mode: 'sandbox' | 'test' | 'live';
}

type Values = Readonly<Record<string, unknown>>;

interface Sending {
  readonly planned: PlannedRequest;
  readonly input: Values;
  readonly evidence?: Evidence | undefined;
  readonly keyOfCaller?: boolean | undefined;
  /** Cut off what is in the air. */
  readonly signals: readonly (AbortSignal | undefined)[];
  readonly paging?: PageReading | undefined;
  /** Asked for once, whatever the number of attempts. */
  readonly key: () => Promise<Secret>;
}

/** How often a refused reveal is asked for again: its limit is for a minute (§8). */
const DETAILS_ATTEMPTS = 2;

/**
 * Speaks to the service. Nothing is loaded or sent before the first call. Every error is a `CliError` of the class
 * of docs/design/reliability.md, section 2, with operation, status, the service's own words and the idempotency key.
 */
export function createService<T extends Table>(settings: ServiceSettings<T>): ServiceOf<T> {
  const calls = createCalls(settings);
  return {
    async send<N extends NameIn<T>>(operation: N, input: InputOf<T[N]>, options: CallOptions = {}) {
      return (await calls.send(operation, input as Values, options)) as Answered<ResultOf<T[N]>>;
    },
    plan: (operation, input, options = {}) => calls.plan(operation, input as Values, options),
    attempt: (planned, input, options = {}) => calls.attempt(planned, input, options),
    pages: (operation, input, options = {}) => calls.pages(operation, input as Values, options) as never,
    close: () => calls.close(),
  };
}

function createCalls(settings: ServiceSettings<Table>) {
  const { table, connection, clock, random, signal, timeoutMs, overrides = NO_OVERRIDES, onWait } = settings;
  const traffic: Traffic = { passed: 0, pausedUntil: Number.NEGATIVE_INFINITY };
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

  /** Sends the planned bytes once. Throws where there is no key, or no way to the service that could be tried. */
  async function sendOnce(sending: Sending): Promise<Interpretation> {
    const { planned, input, evidence, keyOfCaller, signals, paging } = sending;
    const target = targetOf(planned.operation);
    const through = theWire();
    const { redactor } = through;
    learnSecrets(redactor, target.row, input);
    const key = await sending.key();
    redactor.learn(key);
    const verdict = await attempt(through, {
      target,
      input,
      evidence,
      keyOfCaller,
      plan: planned,
      key,
      signals,
      paging,
    });
    if (verdict.class === 'done') learnSecrets(redactor, target.row, verdict.decoded.result);
    return verdict;
  }

  async function attemptWrite(planned: PlannedRequest, input: Values, options: AttemptOptions): Promise<Attempt> {
    const { evidence, keyOfCaller } = options;
    try {
      const verdict = await sendOnce({
        planned,
        input,
        evidence,
        keyOfCaller,
        signals: [options.signal],
        key: connection.key,
      });
      if (verdict.class !== 'not_sent' && verdict.class !== 'throttled') traffic.passed += 1;
      return attemptOf(verdict, { target: targetOf(planned.operation), input, evidence, keyOfCaller });
    } catch (thrown) {
      if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
      return { class: 'not_sent', error: thrown.with({ outcome: 'not_sent' }) };
    }
  }

  /** A read, until it is answered or nothing helps; what looks what came of a write goes on where all else is stopped. */
  async function readUntil(operation: string, input: Values, options: ReadOptions, paging?: PageReading) {
    const planned = plan(operation, input, {});
    const stops = options.aside === undefined ? [signal, options.signal] : [options.signal];
    const signals = stops.filter(each => each !== undefined);
    const stop = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
    const key = onceEach(connection.key);
    const throttledAttempts = targetOf(operation).row.effect === 'reveals-secret' ? DETAILS_ATTEMPTS : undefined;
    const reading = { clock, random, traffic, stop, aside: options.aside, throttledAttempts, onWait };
    const verdict = await repeatRead(() => sendOnce({ planned, input, signals, paging, key }), reading);
    if (verdict.class === 'done') return verdict;
    const reason: unknown = stop?.reason;
    const isStopped = reason instanceof CliError && ['not_sent', 'read_failed'].includes(verdict.class);
    throw isStopped ? reason : verdict.error;
  }

  async function read(operation: string, input: Values, options: ReadOptions): Promise<Answered<unknown>> {
    const { decoded, status, requestId } = await readUntil(operation, input, options);
    return { result: decoded.result, status, requestId, idempotencyKey: undefined, changed: true, reread: false };
  }

  async function write(operation: string, input: Values, options: CallOptions): Promise<Answered<unknown>> {
    const { directWrite } = await import('./direct.ts');
    const planned = plan(operation, input, options);
    const { keyOfCaller, signal: stop } = options;
    const key = onceEach(connection.key);
    const aside = { signal: stop, aside: 'patient' } as const;
    return directWrite({
      target: targetOf(operation),
      input,
      planned,
      options,
      clock,
      random,
      timeoutMs,
      onWait,
      exact: settings.mode === 'sandbox',
      stop: signal === undefined || stop === undefined ? (stop ?? signal) : AbortSignal.any([signal, stop]),
      // The run's own signal cuts it off, too: what is in the air then is not known.
      attempt: async evidence => {
        const verdict = await sendOnce({ planned, input, evidence, keyOfCaller, signals: [signal, stop], key });
        return attemptOf(verdict, { target: targetOf(operation), input, evidence, keyOfCaller });
      },
      read: async (name, values) => (await read(name, values, aside)).result as Values,
    });
  }

  return {
    plan,
    attempt: attemptWrite,
    send: (operation: string, input: Values, options: CallOptions) =>
      isWrite(targetOf(operation).row) ? write(operation, input, options) : read(operation, input, options),
    pages(operation: string, input: Values, options: ReadOptions): AsyncIterable<ListPage<Row>> {
      const from = typeof input['page'] === 'number' ? input['page'] : 1;
      const fetch = async (page: number, onArrival: () => void): Promise<ArrivedPage> => {
        const { decoded } = await readUntil(operation, page === 1 ? input : { ...input, page }, options, { onArrival });
        return { list: decoded.result as ListPage<Row>, ...(decoded.next !== undefined && { next: decoded.next }) };
      };
      return walkPages({ from, fetch, warn, onDoubt: options.onDoubt, operation });
    },
    async close(): Promise<void> {
      await wire?.transport.close();
      wire = undefined;
    },
  };
}

/** The same promise for every call. */
function onceEach<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask();
    return asked;
  };
}

function createWire(settings: ServiceSettings<Table>, warn: (text: string) => void): Wire {
  const { connection, clock, env, userAgent, timeoutMs, mode, onDebug, onAnswer, authorities } = settings;
  const baseUrl = new URL(connection.baseUrl);
  const transport: Transport = createTransport({
    origin: baseUrl,
    socketPath: connection.socketPath,
    env,
    clock,
    authorities,
    isProgram: settings.isProgram,
  });
  const redactor = settings.redactor ?? createRedactor();
  return {
    transport,
    origin: baseUrl.origin,
    variables: connection.variables,
    basePath: baseUrl.pathname.replace(/\/+$/, ''),
    clock,
    redactor,
    userAgent,
    timeoutMs,
    checkClock: mode !== 'sandbox',
    debug: onDebug,
    observe: onAnswer,
    asking: settings.onAsk,
    warn,
  };
}
