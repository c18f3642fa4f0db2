/** Secrets of requests and answers, taught to the redactor. */
import type { Shape } from '../contract/field.ts';
import type { Operation } from '../contract/operation.ts';
import { Secret } from '../core/secret.ts';
import type { Redactor } from './redact.ts';

type Values = Readonly<Record<string, unknown>>;

/** Secrets that were sent or received must not come back in a message or a debug line. */
export function learnSecrets(redactor: Redactor, row: Operation, values: unknown): void {
  const secret = secretNamesOf(row);
  if (secret.length === 0 || typeof values !== 'object' || values === null) return;
  const rows = 'data' in values && Array.isArray(values.data) ? (values.data as Values[]) : [values as Values];
  for (const value of rows.flatMap(each => secret.map(name => each[name]))) {
    if (value instanceof Secret) redactor.learn(value);
    else if (typeof value === 'string') redactor.learn(new Secret(value));
  }
}

const NAMES = new WeakMap<Operation, readonly string[]>();

/** Names of the secrets an operation sends or gets. Of most there are none, and that is asked at every request. */
function secretNamesOf(row: Operation): readonly string[] {
  const known = NAMES.get(row);
  if (known !== undefined) return known;
  const names = [...secretNames(row.body ?? {}), ...secretNames(row.returns.shape)];
  NAMES.set(row, names);
  return names;
}

function secretNames(shape: Shape): string[] {
  const names: string[] = [];
  for (const name in shape) if (shape[name]?.secret) names.push(name);
  return names;
}
