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
  Delivery,
  DeliveryPolicy,
  PlannedRequest,
  ReadOptions,
  ServiceOf,
} from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import type { Clock, Environment, Randomness } from '../platform/host.ts';
import { createBudget } from './budget.ts';
import { isWrite, planRequest, type Target } from './encode.ts';
import type { OutcomeClass } from './errors.ts';
import { isUndone } from './not-happened.ts';
import { type ArrivedPage, type Row, walkPages } from './pages.ts';
import { doubtful } from './read-back.ts';
import { readBalances, readWallet, stateBefore } from './readings.ts';
import { createRedactor, learnSecrets, type Redactor } from './redact.ts';
import { attempt, attemptOf, type Observed, type PageReading, type Wire } from './request.ts';
import type { Wait } from './retry.ts';
import { asDelivery, type Delivered, type Delivering, sendCall, undeliverable } from './send-call.ts';
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

interface Given {
  readonly input: Values;
  readonly policy: DeliveryPolicy;
  readonly signals: readonly (AbortSignal | undefined)[];
  readonly key?: Secret;
  readonly paging?: PageReading | undefined;
}

/** A list whose pages are asked for. */
interface Paged {
  readonly operation: string;
  readonly options: ReadOptions;
}

/** A call with what came of it, before the types of the table are put on. */
interface Done extends Omit<Answered<unknown>, 'result'> {
  readonly result: unknown;
  readonly next?: boolean | undefined;
}

/**
 * Speaks to the service. Nothing is loaded or sent before the first call. Every error is a `CliError` of the class
 * of docs/design/reliability.md, section 1, with operation, status, the service's own words and the idempotency key.
 */
export function createService<T extends Table>(settings: ServiceSettings<T>): ServiceOf<T> {
  const calls = createCalls(settings);
  return {
    async send<N extends NameIn<T>>(operation: N, input: InputOf<T[N]>, options: CallOptions = {}) {
      const { next: _next, ...answered } = await calls.send(operation, input as Values, options);
      return answered as Answered<ResultOf<T[N]>>;
    },
    plan: (operation, input, options = {}) => calls.plan(operation, input as Values, options),
    deliver: (planned, input, policy) => calls.deliver(planned, input, policy),
    attempt: (planned, input, options = {}) => calls.attempt(planned, input, options),
    pages: (operation, input, options = {}) => calls.pages(operation, input as Values, options) as never,
    close: () => calls.close(),
  };
}

function createCalls(settings: ServiceSettings<Table>) {
  const { table, connection, clock, random, signal, timeoutMs, overrides = NO_OVERRIDES } = settings;
  const budget = createBudget(clock);
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

  const delivering: Delivering = {
    budget,
    clock,
    random,
    timeoutMs,
    onWait: settings.onWait,
    mayLag: settings.mode !== 'sandbox',
    read: async (name, values, options) => (await send(name, values, options)).result as Values,
    readWithin: async (name, values, signals) => (await sendWithin(signals, name, values, {})).result as Values,
  };

  const targetOf = (name: string): Target => {
    const row = Object.hasOwn(table, name) ? (table[name] as Operation) : undefined;
    if (row === undefined) throw new CliError('internal', { message: `no operation ${JSON.stringify(name)}` });
    return { name, row, overrides };
  };

  const plan = (operation: string, input: Values, options: CallOptions): PlannedRequest =>
    planRequest(targetOf(operation), input, { options, random });

  async function deliver(operation: string, planned: PlannedRequest, given: Given): Promise<Delivered> {
    const target = targetOf(operation);
    const { input, policy, signals, paging } = given;
    const { redactor } = theWire();
    learnSecrets(redactor, target.row, input);
    const key = given.key ?? (await connection.key());
    redactor.learn(key);
    const asked = { target, input, evidence: policy.evidence, keyOfCaller: policy.keyOfCaller };
    const parcel = { asked, paging, plan: planned, key, signals, policy };
    const delivered = await sendCall(parcel, theWire(), delivering);
    if (delivered.class === 'done') learnSecrets(redactor, target.row, delivered.result);
    return delivered;
  }

  /** The key, or why nothing can be sent at all. */
  async function readyKey(): Promise<Secret | CliError> {
    try {
      theWire();
      return await connection.key();
    } catch (thrown) {
      if (thrown instanceof CliError) return thrown;
      throw thrown;
    }
  }

  /** What the effect is judged by. Throws as reading does, but for a card that is not there: the write's own answer counts. */
  async function gather(operation: string, input: Values, options: CallOptions): Promise<Evidence | undefined> {
    const evidence = { alone: true, plannedAt: clock.now() };
    const { row } = targetOf(operation);
    const read = (name: string, values: Values) => delivering.read(name, values, { signal: options.signal });
    const isCard = row.makes === 'card';
    if (row.leadsTo === undefined) {
      if (row.transfer === undefined && !isCard) return evidence;
      // Without balances from before there is only the answer to believe.
      if (options.readsBalancesBefore !== true) return isCard ? evidence : undefined;
    }
    try {
      if (row.leadsTo !== undefined) return { ...evidence, was: await stateBefore(targetOf(operation), input, read) };
      if (isCard) return { ...evidence, wallet: await readWallet(read) };
      const before = await readBalances(read, input['card_id']);
      return { ...evidence, before };
    } catch (thrown) {
      if (!(thrown instanceof CliError)) throw thrown;
      if (thrown.kind === 'not_found') return evidence;
      throw thrown.with({ message: `${operation} was not sent: ${thrown.message}`, outcome: 'not_sent' });
    }
  }

  /** A 429 may follow the deed: of money the balances deny it, of a subscription the list does, or nothing does. */
  async function believed(
    operation: string,
    input: Values,
    { class: is, error, ...refused }: Delivered,
    policy: DeliveryPolicy,
  ) {
    const { row } = targetOf(operation);
    if (error === undefined || (row.transfer === undefined && row.makes === undefined)) return error;
    if (!refused.unlooked || (is !== 'throttled' && is !== 'not_sent')) return error;
    const asked = { target: targetOf(operation), input, evidence: policy.evidence };
    const options = { signal: policy.stop, aside: 'patient' } as const;
    const read = (name: string, values: Values) => delivering.read(name, values, options);
    return (await isUndone(asked, { ...delivering, signal: policy.stop, read })) ? error : doubtful(error);
  }

  function send(operation: string, input: Values, options: CallOptions, paging?: PageReading): Promise<Done> {
    // What looks what came of a write goes on where everything else is stopped.
    const signals = options.aside === undefined ? [signal, options.signal] : [options.signal];
    return sendWithin(signals, operation, input, options, paging);
  }

  async function sendWithin(
    signals: readonly (AbortSignal | undefined)[],
    operation: string,
    input: Values,
    options: CallOptions,
    paging?: PageReading,
  ): Promise<Done> {
    const planned = plan(operation, input, options);
    const evidence = isWrite(targetOf(operation).row) ? await gather(operation, input, options) : undefined;
    const { keyOfCaller, aside, signal: stop } = options;
    const policy = { keyHonoured: false, stop, evidence, keyOfCaller, aside };
    const delivered = await deliver(operation, planned, { input, policy, signals, paging });
    const { result, next, changed, reread, status, requestId } = delivered;
    const isLooked = options.readsBalancesBefore === true || targetOf(operation).row.makes === 'webhook';
    const error = isLooked ? await believed(operation, input, delivered, policy) : delivered.error;
    if (delivered.class === 'done') {
      return { result, next, changed, reread, status: status ?? 0, requestId, idempotencyKey: planned.idempotencyKey };
    }
    throw stoppedOr(error ?? new CliError('internal', { message: `${operation}: no error` }), delivered.class, signals);
  }

  async function fetchPage(asked: Paged, input: Values, paging: PageReading): Promise<ArrivedPage> {
    const { result, next } = await send(asked.operation, input, asked.options, paging);
    return { list: result as ListPage<Row>, ...(next !== undefined && { next }) };
  }

  return {
    plan,
    send,
    async deliver(planned: PlannedRequest, input: Values, policy: DeliveryPolicy): Promise<Delivery> {
      const key = await readyKey();
      if (key instanceof CliError) return undeliverable(key);
      // A journaled write that is in the air is waited for, whatever stops the rest.
      return asDelivery(await deliver(planned.operation, planned, { input, policy, signals: [policy.cut], key }));
    },
    async attempt(planned: PlannedRequest, input: Values, options: AttemptOptions): Promise<Attempt> {
      const { evidence, keyOfCaller, signal: cut } = options;
      const key = await readyKey();
      if (key instanceof CliError) return { class: 'not_sent', error: key.with({ outcome: 'not_sent' }) };
      const target = targetOf(planned.operation);
      const { redactor } = theWire();
      learnSecrets(redactor, target.row, input);
      redactor.learn(key);
      const asked = { target, input, evidence, keyOfCaller };
      const verdict = await attempt(theWire(), { ...asked, plan: planned, key, signals: [cut] });
      if (verdict.class === 'done') learnSecrets(redactor, target.row, verdict.decoded.result);
      return attemptOf(verdict, asked);
    },
    pages(operation: string, input: Values, options: ReadOptions): AsyncIterable<ListPage<Row>> {
      const from = typeof input['page'] === 'number' ? input['page'] : 1;
      const fetch = (page: number, onArrival: () => void) =>
        fetchPage({ operation, options }, page === 1 ? input : { ...input, page }, { onArrival });
      return walkPages({ from, fetch, warn, onDoubt: options.onDoubt, operation });
    },
    async close(): Promise<void> {
      await wire?.transport.close();
      wire = undefined;
    },
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

/** A stop asked for by the user is the reason, unless a write is in the air: then not knowing is what matters. */
function stoppedOr(error: CliError, outcome: OutcomeClass, signals: readonly (AbortSignal | undefined)[]): CliError {
  const stopped = signals.find(signal => signal?.aborted);
  const reason: unknown = stopped?.reason;
  if (!(reason instanceof CliError) || !['not_sent', 'read_failed'].includes(outcome)) return error;
  return outcome === 'not_sent' ? reason.with({ outcome: 'not_sent' }) : reason;
}
