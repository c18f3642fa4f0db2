/** Waiting for one record to be so: read, test, wait, and the last state when it did not happen. */
import { allOf, fieldsIn } from '../../cli/condition.ts';
import type { Context } from '../../cli/context.ts';
import type { Shape } from '../../contract/field.ts';
import { durationText } from '../../terminal/times.ts';
import { awaited, waitOver, waitTimeout } from './flags.ts';

export interface Until<T> {
  /** `card_1`, `the wallet`. */
  readonly name: string;
  /** Conditions that must all hold. */
  readonly until: readonly string[];
  readonly shape: Shape;
  readonly waitTimeout: string | undefined;
  readonly read: (signal: AbortSignal) => Promise<T>;
  /** Nothing of it can change any more. */
  readonly isFinal?: (record: T) => boolean;
}

/** The record once it is as asked for. Throws `wait_expired` with the value it had last. */
export async function recordUntil<T extends object>(ctx: Context, asked: Until<T>): Promise<T> {
  const { shape, until } = asked;
  const test = allOf(until, { shape, flag: '--until', now: () => ctx.serviceNow() });
  const timeoutMs = waitTimeout(ctx, asked.waitTimeout);
  let last: T | undefined;
  let isFinal = false;
  const look = async (signal: AbortSignal) => {
    last = await asked.read(signal);
    isFinal = asked.isFinal?.(last) === true;
    const isSo = test(last as Readonly<Record<string, unknown>>);
    return isSo || isFinal ? { record: last, isSo } : undefined;
  };
  const found = await awaited(ctx, timeoutMs, look);
  if (found?.isSo) return found.record;
  const values = fieldsIn(until, shape).map(field => {
    const value = valueIn(last, field);
    return `${field} ${value === undefined ? 'not there' : JSON.stringify(value)}`;
  });
  const when = isFinal ? 'and can no longer become so' : `within ${durationText(timeoutMs)}`;
  throw waitOver(ctx, isFinal ? undefined : timeoutMs, {
    message: `${asked.name} did not become ${until.join(' and ')} ${when}`,
    notes: [`Last seen: ${values.join(', ')}.`],
    evidence: { last: last ?? null },
  });
}

function valueIn(record: object | undefined, path: string): unknown {
  let value: unknown = record;
  for (const name of path.split('.')) value = (value as Readonly<Record<string, unknown>> | undefined | null)?.[name];
  return value;
}
