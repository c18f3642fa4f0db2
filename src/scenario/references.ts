/** `$card.id` in a scenario: a value of what an earlier step answered, named by its `as`. `$$` begins a plain `$`. */

import type { StepOperation } from '../contract/sandbox/step-operations.ts';

const REFERENCE = /^\$([a-z][a-z0-9_]*)((?:\.[A-Za-z0-9_]+)*)$/;

export interface Reference {
  readonly name: string;
  /** Members and places in lists, from the whole answer inwards. */
  readonly path: readonly string[];
}

/** Names that `as` may give. */
export const isName = (text: string) => /^[a-z][a-z0-9_]*$/.test(text);

export function referenceOf(value: unknown): Reference | undefined {
  const [whole, name = '', path = ''] = (typeof value === 'string' && REFERENCE.exec(value)) || [];
  return whole === undefined ? undefined : { name, path: path.split('.').slice(1) };
}

/** Text that looks like a reference and is none. */
export function isMistaken(value: unknown): boolean {
  return typeof value === 'string' && /^\$[^$]/.test(value) && referenceOf(value) === undefined;
}

/** Members of an answer that a path could go on with; undefined when it leads to one, or to where nobody knows. */
export function possibleMembers(
  { returns }: StepOperation['row'],
  path: readonly string[],
): readonly string[] | undefined {
  const inOrder = (known: readonly string[], member: string | undefined) =>
    member === undefined || known.includes(member) ? undefined : known;
  const members = Object.keys(returns.shape);
  if (returns.kind === 'none') return [];
  if (returns.kind === 'raw') return undefined;
  if (returns.kind === 'one') return inOrder(members, path[0]);
  const [part, place, member] = path;
  if (part !== 'data') return inOrder(['data', 'page'], part);
  if (place !== undefined && !/^\d+$/.test(place)) return ['0', '1', '2'];
  return inOrder(members, member);
}

export type Captured = ReadonlyMap<string, unknown>;

/** What a reference leads to; undefined when the answer has no such member. */
export function resolveReference({ name, path }: Reference, captured: Captured): unknown {
  let value = captured.get(name);
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

/** A value with its references replaced, however deep they stand. Throws a `RangeError` naming one that leads nowhere. */
export function resolved(value: unknown, captured: Captured): unknown {
  const reference = referenceOf(value);
  if (reference !== undefined) {
    const found = resolveReference(reference, captured);
    if (found === undefined) throw new RangeError(`${String(value)} is not in what that step answered`);
    return found;
  }
  if (typeof value === 'string') return value.startsWith('$$') ? value.slice(1) : value;
  if (Array.isArray(value)) return value.map(entry => resolved(entry, captured));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, resolved(entry, captured)]));
}
