/** A change in the caller's words as the input of the operation it is, so that guard and journal know it. */
import { usage } from '../../cli/parsing/values.ts';
import type { Input, WriteName } from '../../contract/calls.ts';
import type { Shape } from '../../contract/field.ts';
import type { Matched } from '../../contract/matching.ts';
import type { Operation } from '../../contract/operation.ts';
import { CALLS } from '../../contract/raw.ts';
import { SECRET_NAMES } from '../../contract/secret-names.ts';
import { centsOf } from '../../core/money.ts';
import type { Members } from './raw-call.ts';

/** Whether it changes something. */
export function isWriteName(name: Matched['operation']): name is WriteName & Matched['operation'] {
  const { effect } = CALLS[name];
  return effect !== 'read' && effect !== 'reveals-secret';
}

/** Throws `usage` naming the first member that the operation does not take. */
export function inputOf<N extends WriteName>(
  operation: N,
  { params, body }: Pick<Matched, 'params' | 'body'>,
): Input<N> {
  const shape = (CALLS[operation] as Operation).body ?? {};
  if (operation === 'webhooks.create' && body['secret'] === undefined) {
    throw usage(
      'the generated secret is shown only once, and api shows no secrets',
      'cardwright webhooks create --help',
    );
  }
  const members = Object.entries(body).map(([name, value]) => [name, memberOf(operation, shape, { name, value })]);
  return { ...params, ...Object.fromEntries(members) } as Input<N>;
}

interface Member {
  readonly name: string;
  readonly value: unknown;
}

function memberOf(operation: string, shape: Shape, { name, value }: Member): unknown {
  const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
  if (field === undefined) {
    throw usage(`${operation} takes no ${JSON.stringify(name)}; known: ${Object.keys(shape).join(', ') || 'nothing'}`);
  }
  if (field.kind !== 'money' || value === null) return value;
  const amount = typeof value === 'number' ? centsOf(value) : undefined;
  if (amount === undefined) throw usage(`${name} is not an amount as a JSON number: -F ${name}:=25`);
  return amount;
}

/** What was answered, a secret that was sent and comes back left out. */
export function shownResult(result: unknown): Members {
  const members = Object.entries((result ?? {}) as Members);
  return Object.fromEntries(members.filter(([name]) => !SECRET_NAMES.has(name.toLowerCase())));
}

/** The first member, however deep, that has the name of a secret: what the journal keeps must hold none. */
export function secretMember(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const own = Array.isArray(value) ? undefined : Object.keys(value).find(name => SECRET_NAMES.has(name.toLowerCase()));
  if (own !== undefined) return own;
  for (const member of Object.values(value)) {
    const inner = secretMember(member);
    if (inner !== undefined) return inner;
  }
  return undefined;
}
