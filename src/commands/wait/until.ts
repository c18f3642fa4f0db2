/** Waiting for one record to be so: read, test, wait, and the last state when it did not happen. */
import type { Context } from '../../cli/context.ts';
import { parseCondition } from '../../contract/condition.ts';
import type { Shape } from '../../contract/field.ts';
import { durationText } from '../../terminal/times.ts';
import { onTroubleOf, waitingOf, waitOver, waitTimeout } from './flags.ts';

export interface Until<T> {
  /** `card_1`, `the wallet`. */
  readonly name: string;
  readonly until: string;
  readonly shape: Shape;
  readonly waitTimeout: string | undefined;
  readonly read: () => Promise<T>;
  /** Nothing of it can change any more. */
  readonly isFinal?: (record: T) => boolean;
}

/** The record once it is as asked for. Throws `wait_expired` with the value it had last. */
export async function recordUntil<T extends object>(ctx: Context, asked: Until<T>): Promise<T> {
  const test = parseCondition(asked.until, asked.shape, '--until');
  const timeoutMs = waitTimeout(asked.waitTimeout);
  const { waitFor } = await import('../../events/poll.ts');
  let last: T | undefined;
  let isFinal = false;
  const look = async () => {
    last = await asked.read();
    isFinal = asked.isFinal?.(last) === true;
    const isSo = test(last as Readonly<Record<string, unknown>>);
    return isSo || isFinal ? { record: last, isSo } : undefined;
  };
  const found = await waitFor(waitingOf(ctx), { timeoutMs, look, onTrouble: onTroubleOf(ctx) });
  if (found?.isSo) return found.record;
  const [field = ''] = /^[\w.]+/.exec(asked.until) ?? [];
  const value = valueIn(last, field);
  const when = isFinal ? 'and cannot become so any more' : `within ${durationText(timeoutMs)}`;
  throw waitOver(`${asked.name} did not become ${asked.until} ${when}`, {
    says: `Last seen: ${field} ${value === undefined ? 'not there' : JSON.stringify(value)}.`,
    state: last,
  });
}

function valueIn(record: object | undefined, path: string): unknown {
  let value: unknown = record;
  for (const name of path.split('.')) value = (value as Readonly<Record<string, unknown>> | undefined | null)?.[name];
  return value;
}
