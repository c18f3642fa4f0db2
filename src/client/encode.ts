/**
 * From what a caller asks to the request: checked, exact, one form (reading rule 1;
 * docs/design/cli.md, "Contract overrides").
 */

import { HEADERS } from '../contract/envelopes.ts';
import type { Shape } from '../contract/field.ts';
import type { Operation } from '../contract/operation.ts';
import { type OperationOverride, type Overrides, wireName } from '../contract/overrides.ts';
import type { CallOptions, PlannedRequest } from '../contract/service.ts';
import { inputViolation, shapeProblem } from '../contract/violation.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, toUsd } from '../core/money.ts';
import { Secret } from '../core/secret.ts';
import type { Randomness } from '../platform/host.ts';

type Values = Readonly<Record<string, unknown>>;

/** One row of a table under its name, with what a profile says about it. */
export interface Target {
  readonly name: string;
  readonly row: Operation;
  readonly overrides: Overrides;
}

/** Client keys stay below the shortest limit known of any service. */
const MAX_KEY_LENGTH = 64;

/** Whether an operation changes something; revealing a secret does not. */
export function isWrite(row: Operation): boolean {
  return row.effect !== 'read' && row.effect !== 'reveals-secret';
}

/**
 * The request of an operation. Throws `usage` naming field, limit and section for a value that breaks a stated
 * limit, before anything is sent.
 */
export function planRequest(target: Target, input: Values, options: CallOptions, random: Randomness): PlannedRequest {
  const { name, row } = target;
  const { method, path, body } = row.raw ? rawParts(target, input) : partsOf(target, input);
  // What is known of an operation does not change with the route that an override gives it: a write that the contract sends as
  // POST carries a key. A read never does, or an old answer could be repeated for it.
  const carriesKey = isWrite(row) && (row.method === 'POST' || method === 'POST');
  const idempotencyKey = carriesKey ? (checkedKey(name, options.key) ?? drawnKey(random)) : undefined;
  return { operation: name, method, path, body: options.body ?? body, idempotencyKey };
}

type Parts = Pick<PlannedRequest, 'method' | 'path' | 'body'>;

function partsOf(target: Target, input: Values): Parts {
  const { name, row, overrides } = target;
  const override = overrideOf(target);
  const params = part(target, row.params, input);
  const query = part(target, row.query, input);
  const body = part(target, row.body, input);
  const known = [row.params, row.query, row.body].flatMap(shape => Object.keys(shape ?? {}));
  const unknown = Object.keys(input).find(key => input[key] !== undefined && !known.includes(key));
  if (unknown !== undefined) throw usage(name, `${unknown} is not known here; known: ${known.join(', ') || 'nothing'}`);
  const left = new Map(Object.entries(query));
  const path = (override.path ?? row.path).replace(/\{(\w+)\}/g, (_whole, slot: string) => {
    const value = params[slot] ?? query[slot];
    if (value === undefined) throw usage(name, `${slot} is missing; the contract of this profile has it in the path`);
    left.delete(slot);
    const text = String(value);
    // Ids are opaque (reading rule 11), but `.` and `..` survive encoding and would address something else.
    if (text === '' || text === '.' || text === '..') throw usage(name, `${slot} is not an identifier`);
    return encodeURIComponent(text);
  });
  const rest = [...left].map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`);
  const members = Object.entries(body).map(([slot, value]) => [wireName(name, slot, overrides) ?? slot, value]);
  const sent: Values = { ...Object.fromEntries(members), ...override.body };
  return {
    method: override.method ?? row.method,
    path: rest.length === 0 ? path : `${path}?${rest.join('&')}`,
    body: Object.keys(sent).length > 0 ? JSON.stringify(sent) : undefined,
  };
}

/** The caller's own words; they were checked for what could leave the base address where they were typed. */
function rawParts({ row }: Target, { method, path: given, page, body }: Values): Parts {
  const path = String(given);
  return {
    method: typeof method === 'string' ? method : row.method,
    path: page === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}page=${page}`,
    body: typeof body === 'string' ? body : undefined,
  };
}

/** The name of the header that carries the idempotency key. */
export function keyHeader(overrides: Overrides): string {
  return overrides.headers.idempotency_key ?? HEADERS.idempotency_key.name;
}

export function overrideOf({ name, overrides }: Target): OperationOverride {
  return Object.hasOwn(overrides.operations, name) ? (overrides.operations[name] ?? {}) : {};
}

/** The members of the input that belong to a shape, in wire form and checked. */
function part(target: Target, shape: Shape | undefined, input: Values): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [slot, field] of Object.entries(shape ?? {})) {
    const value = Object.hasOwn(input, slot) ? input[slot] : undefined;
    if (value === undefined) continue;
    const isAmount = field.kind === 'money' && typeof value === 'number';
    const wrong = field.kind === 'text' || field.kind === 'map' ? inputViolation(field, value) : undefined;
    if (wrong !== undefined) throw usage(target.name, `${slot} ${wrong}`);
    values[slot] = isAmount ? toUsd(value as Cents) : value instanceof Secret ? value.expose() : value;
  }
  const problem = shape && shapeProblem(shape, values);
  if (problem) throw usage(target.name, `${problem.field} ${problem.text}`);
  return values;
}

function checkedKey(operation: string, given: string | undefined): string | undefined {
  if (given === undefined || (/^[\x21-\x7e]+$/.test(given) && given.length <= MAX_KEY_LENGTH)) return given;
  throw usage(operation, `the idempotency key must be 1 to ${MAX_KEY_LENGTH} visible ASCII characters`);
}

/** Digits that may be a card number: a log would mask the key then, and nobody could send it again. */
const LIKE_A_NUMBER = /[2-9][0-9]{12}/;

/** `cw_` and 128 random bits, drawn again where they look like a card number. */
function drawnKey(random: Randomness): string {
  for (;;) {
    const key = `cw_${Buffer.from(random.bytes(16)).toString('hex')}`;
    if (!LIKE_A_NUMBER.test(key)) return key;
  }
}

function usage(operation: string, message: string): CliError {
  return new CliError('usage', { message, operation, outcome: 'not_sent' });
}
