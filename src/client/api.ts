/** The service of the contract over HTTP: typed calls of a table of operations. */
import type { Table } from '../contract/calls.ts';
import type { ListPage, Operation } from '../contract/operation.ts';
import { NO_OVERRIDES } from '../contract/overrides.ts';
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
import { isWrite, planRequest, type Target } from './encode.ts';
import { type ArrivedPage, type Row, repeatRead, type Traffic, walkPages } from './read.ts';
import { createRedactor } from './redact.ts';
import { createWire, type Sending, type ServiceSettings, sendOnce, type Verdict, type Wire } from './request.ts';

type Values = Readonly<Record<string, unknown>>;

/** How often a refused reveal is asked for again: its limit is for a minute (§8). */
const DETAILS_ATTEMPTS = 2;

/**
 * Speaks to the service. Nothing is loaded or sent before the first call. Every error is a `CliError` of the class
 * of docs/design/reliability.md, section 2, with operation, status, the service's own words and the idempotency key.
 */
export function createService<T extends Table>(settings: ServiceSettings<T>): ServiceOf<T> {
  const { table, connection, clock, random, signal, overrides = NO_OVERRIDES, onWait } = settings;
  const traffic: Traffic = { passed: 0, pausedUntil: Number.NEGATIVE_INFINITY };
  const redactor = settings.redactor ?? createRedactor();
  const said = new Set<string>();
  const warn = (text: string) => {
    if (!said.has(text)) settings.onWarning?.(text);
    said.add(text);
  };
  let wire: Wire | undefined;

  const targetOf = (name: string): Target => {
    const row: Operation | undefined = Object.hasOwn(table, name) ? table[name] : undefined;
    if (row === undefined) throw new CliError('internal', { message: `no operation ${JSON.stringify(name)}` });
    return { name, row, overrides };
  };

  const plan = (operation: string, input: Values, options: CallOptions = {}): PlannedRequest =>
    planRequest(targetOf(operation), input, options, random);

  async function send(planned: PlannedRequest, sending: Omit<Sending, 'planned' | 'target'>): Promise<Verdict> {
    wire ??= createWire(settings, redactor, warn);
    const verdict = await sendOnce(wire, { ...sending, planned, target: targetOf(planned.operation) });
    if (verdict.class !== 'not_sent' && verdict.class !== 'throttled') traffic.passed += 1;
    return verdict;
  }

  /** What hinders a request before it is sent is an error of its own. */
  async function attempt(planned: PlannedRequest, input: Values, options: AttemptOptions = {}): Promise<Attempt> {
    try {
      return await send(planned, { ...options, input, key: connection.key, signals: [options.signal] });
    } catch (thrown) {
      if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
      return { class: 'not_sent', error: thrown.with({ outcome: 'not_sent' }) };
    }
  }

  /** Sends a read until it is answered or nothing helps; what reads a change back goes on where all else is stopped. */
  async function read(operation: string, input: Values, options: ReadOptions, onArrival?: () => void) {
    const planned = plan(operation, input);
    const { readBack } = options;
    const signals = [readBack === undefined ? signal : undefined, options.signal].filter(each => each !== undefined);
    const stop = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
    let asked: ReturnType<typeof connection.key> | undefined;
    const key = () => {
      asked ??= connection.key();
      return asked;
    };
    const throttledAttempts = targetOf(operation).row.effect === 'reveals-secret' ? DETAILS_ATTEMPTS : undefined;
    const verdict = await repeatRead(() => send(planned, { input, signals, onArrival, key }), {
      ...{ clock, random, traffic, stop, readBack, throttledAttempts, onWait },
    });
    if (verdict.class === 'done') return verdict;
    const reason: unknown = stop?.reason;
    const isStopped = reason instanceof CliError && verdict.again === true;
    throw isStopped ? reason : verdict.error;
  }

  const service = {
    plan,
    attempt,
    async send(operation: string, input: Values, options: CallOptions = {}): Promise<Answered<unknown>> {
      const planned = isWrite(targetOf(operation).row) ? plan(operation, input, options) : undefined;
      const stop = options.signal ?? signal;
      const answered: Attempt =
        planned === undefined ? await read(operation, input, options) : await attempt(planned, input, { signal: stop });
      const { result, status = 0, requestId } = answered;
      const reason: unknown = answered.class === 'not_sent' ? stop?.reason : undefined;
      if (reason instanceof CliError) throw reason.with({ outcome: 'not_sent' });
      if (answered.class !== 'done') throw answered.error;
      return { result, status, requestId, idempotencyKey: planned?.idempotencyKey, changed: true, reread: false };
    },
    pages(operation: string, input: Values, options: ReadOptions = {}): AsyncIterable<ListPage<Row>> {
      const from = typeof input['page'] === 'number' ? input['page'] : 1;
      const fetch = async (page: number, onArrival: () => void): Promise<ArrivedPage> => {
        const { result, next } = await read(operation, page === 1 ? input : { ...input, page }, options, onArrival);
        return { list: result as ListPage<Row>, next };
      };
      return walkPages({ from, fetch, warn, onIncomplete: options.onIncomplete, operation });
    },
    async close(): Promise<void> {
      await wire?.transport.close();
      wire = undefined;
    },
  };
  // Names, inputs and results are those of the table.
  return service as unknown as ServiceOf<T>;
}
