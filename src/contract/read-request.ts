/** What a request asks for, read from its own words: the other way round than the client makes it. */
import { centsOf } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import type { Shape } from './field.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { type Overrides, wireName } from './overrides.ts';
import { matchOperation } from './route.ts';

interface RequestWords {
  readonly method: string;
  /** Path and query below the base address. */
  readonly path: string;
  readonly body?: string | undefined;
}

/** An operation and its input, amounts in cents. */
interface RequestedCall {
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Undefined for a request that no operation of the interface makes. Members that the operation does not know stay. */
export function readRequest({ method, path, body }: RequestWords, overrides: Overrides): RequestedCall | undefined {
  const members = body === undefined ? {} : membersIn(body);
  const matched = members && matchOperation({ method, path, body: members }, overrides);
  if (matched === undefined) return undefined;
  const { operation, params, body: given } = matched;
  const shape: Shape = (OPERATIONS as Readonly<Record<string, Operation>>)[operation]?.body ?? {};
  const slots = new Map(Object.keys(shape).map(slot => [wireName(operation, slot, overrides) ?? slot, slot]));
  const values = Object.entries(given).map(([name, value]) => {
    const slot = slots.get(name) ?? name;
    const isAmount = shape[slot]?.kind === 'money' && typeof value === 'number';
    return [slot, isAmount ? (centsOf(value) ?? value) : value] as const;
  });
  return { operation, input: { ...params, ...Object.fromEntries(values) } };
}

/** Undefined for what is no object, and for a member that is there twice: not every service reads the same one of both. */
function membersIn(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) && membersOf(body) === Object.keys(value).length ? value : undefined;
  } catch {
    return undefined;
  }
}

/** How many members the outermost object of a JSON text has. */
function membersOf(json: string): number {
  let [depth, count] = [0, 0];
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/gs)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (token === ':' && depth === 1) count += 1;
  }
  return count;
}
