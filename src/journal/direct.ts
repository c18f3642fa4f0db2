/**
 * A change that no journal keeps: a state, a subscription, a program's call without a journal. It goes through the table of
 * `outcome.ts` like every other one, over a database that keeps nothing.
 */
import type { WriteName } from '../contract/calls.ts';
import { isSubscribed } from '../contract/evidence.ts';
import type { Answered, Attempt, PlannedRequest, Reader, Service } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import { lookHint } from '../core/row-words.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import { keepsNothing } from './database.ts';
import { executeChange } from './outcome.ts';
import { newChange, type Op } from './records.ts';
import { readerOf, rowOf, workOn } from './work.ts';

type Values = Readonly<Record<string, unknown>>;

export interface DirectWrite {
  readonly service: Service;
  readonly operation: WriteName;
  /** Money in cents. */
  readonly input: Values;
  /** The key of its request is the caller's own choice. */
  readonly keyOfCaller: boolean;
  readonly planned: PlannedRequest;
  readonly mode: 'sandbox' | 'test' | 'live';
  readonly clock: Clock;
  readonly random: Randomness;
  /** Nothing begins after it, and what is on the wire is cut off. */
  readonly signal: AbortSignal;
}

/** Makes the change, or throws what came of it: `outcome_unknown` where that is not known. */
export async function directWrite(write: DirectWrite): Promise<Answered<unknown>> {
  const { service, operation, input, planned, clock, random, signal, mode } = write;
  const { method, path, body, idempotencyKey } = planned;
  const reader = readerOf(service, () => ({ signal }));
  if (rowOf(operation).makes === 'webhook') await refuseSubscribed(reader, operation, input);
  const attempts: Attempt[] = [];
  const givenKey = write.keyOfCaller ? idempotencyKey : undefined;
  const work = workOn({
    database: keepsNothing(clock),
    self: { holder: '', pid: 0, process: '' },
    // What a journal would keep beside it is not asked for here.
    op: { id: '', account: '', created: clock.now(), bulk: false, mode, plan: {}, givenKey } as unknown as Op,
    service: {
      ...service,
      async attempt(...given) {
        const attempt = await service.attempt(...given);
        attempts.push(attempt);
        return attempt;
      },
    },
    clock,
    random,
    stop: signal,
    cut: signal,
    quietMs: Number.POSITIVE_INFINITY,
  });
  const { amount, card_id: card } = input;
  const change = newChange({
    op: '',
    n: 1,
    operation,
    input,
    request: { method, path, body },
    facts: {},
    key: idempotencyKey,
    digest: '',
    card: typeof card === 'string' ? card : undefined,
    amount: typeof amount === 'number' ? amount : 0,
  });
  const { outcome, error, result, requestId, changed = true, reread = false } = await executeChange(work, change);
  const last = attempts.at(-1);
  if (outcome === 'unknown') {
    const answer = attempts.find(attempt => attempt.class === 'ambiguous') ?? last;
    const { reason = '', seen } = change.evidence;
    const found = seen === undefined ? '' : `: ${seen}`;
    throw new CliError('outcome_unknown', {
      ...answer?.error?.facts,
      message: `${operation} was sent, but no trustworthy answer came back: ${reason}. It may or may not have happened${found}`,
      operation,
      hint: lookHint(operation, input),
      outcome: 'unknown',
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
  }
  if (error !== undefined) throw error;
  return { result, status: last?.status ?? 200, requestId, idempotencyKey, changed, reread };
}

/** Two subscriptions of one endpoint deliver each event twice. Throws `guarded` where an earlier command has made such a one. */
async function refuseSubscribed(reader: Reader, operation: WriteName, input: Values): Promise<void> {
  const { data } = await reader.read('webhooks.list', {});
  const there = data.find(each => isSubscribed(each, input));
  if (there === undefined) return;
  throw new CliError('guarded', {
    message: `${there.id} has this address and these events already, so each event would come twice. Nothing was sent`,
    reason: 'subscribed',
    notes: [`Its secret is shown once, when it is made. For another one: cardwright webhooks delete ${there.id}`],
    hint: `cardwright webhooks get ${there.id}`,
    operation,
    outcome: 'not_sent',
  });
}
