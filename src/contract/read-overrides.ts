/**
 * Reads a file of contract overrides (docs/design/cli.md), and refuses what an override may not do. Guard, confirmation, journal and retries follow the effect of the row,
 * so an override says how an operation is asked for and never makes it another one: a read stays a read, a change
 * does what its row says, to the card that was named, with the values that were asked for.
 */

import { CliError } from '../core/errors.ts';
import { notJson } from '../core/json-position.ts';
import { isObject } from '../core/objects.ts';
import { HEADERS } from './envelopes.ts';
import type { Method, Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { FIELD_GROUPS, fieldKey, NO_OVERRIDES, type OperationOverride, type Overrides, wireName } from './overrides.ts';
import { mayMeet, pathProblem } from './route.ts';

const ROWS = Object.entries(OPERATIONS).map(([name, row]) => ({ name, row: row as Operation }));
type Named = (typeof ROWS)[number];
type Route = ReturnType<typeof routeOf>;

const CHANGING: readonly Method[] = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** Members of the file that would make an operation another one, with why. */
function* problemsOf(overrides: Overrides): Generator<string, undefined> {
  for (const named of ROWS) {
    const override = overrides.operations[named.name];
    if (override !== undefined) yield* operationProblems(named, override, overrides);
    yield* renamedProblems(named, overrides);
  }
}

function* operationProblems({ name, row }: Named, override: OperationOverride, overrides: Overrides) {
  const mine = routeOf(row, override);
  const { method, path, body } = mine;
  const isReading = row.effect === 'read' || row.effect === 'reveals-secret';
  const reads: readonly Method[] = ['GET', ...(row.alsoReadBy ?? [])];
  if (!isReading && !CHANGING.includes(method)) {
    yield `${name}.method must be POST, PUT, PATCH or DELETE: ${name} changes something, and a ${method} may be repeated or cached on its way`;
  }
  if (isReading && !reads.includes(method)) yield `${name}.method must be ${reads.join(' or ')}: ${name} only reads`;
  if (isReading && body !== undefined && method === 'GET') yield `${name}.body cannot be: a GET carries none`;
  // Without it, whatever stands in the path would be asked for in place of what the user names.
  const missing = Object.keys(row.params ?? {}).find(param => !path.includes(`{${param}}`));
  if (missing !== undefined) yield `${name}.path must hold {${missing}}: it is what the command names`;
  const asked = Object.keys(row.body ?? {}).flatMap(slot => [slot, wireName(name, slot, overrides) ?? slot]);
  const taken = Object.keys(body ?? {}).find(member => asked.includes(member));
  if (taken !== undefined) yield `${name}.body must not set ${taken}: it is what the command asks for`;
  for (const other of ROWS) {
    const { effect, leadsTo } = other.row;
    const isOther = effect === 'irreversible' && leadsTo !== undefined && leadsTo.value !== row.leadsTo?.value;
    if (isOther && holds(body, leadsTo.value)) yield `${name}.body leads to ${leadsTo.value}: that is ${other.name}`;
  }
  // The route of an operation that is guarded otherwise, where it is now or where it would be without overrides.
  for (const other of ROWS) {
    if (other.name === name || (row.effect === 'read' && other.row.effect === 'read')) continue;
    const theirs = [routeOf(other.row, overrides.operations[other.name] ?? {}), routeOf(other.row, {})];
    if (theirs.some(route => isSame(mine, route))) {
      yield `${name}: ${method} ${path} is the route of ${other.name}, which is guarded by its own rules`;
    }
  }
}

function holds(value: unknown, word: string): boolean {
  if (typeof value === 'string') return value.trim().toLowerCase() === word;
  return typeof value === 'object' && value !== null && Object.values(value).some(part => holds(part, word));
}

const routeOf = (row: Operation, { method = row.method, path = row.path, body }: OperationOverride) => ({
  method,
  path,
  body,
});

/** Fixed members that differ tell two operations on one route apart. */
function isSame(mine: Route, theirs: Route): boolean {
  if (mine.method !== theirs.method || !mayMeet(mine.path, theirs.path)) return false;
  const other = theirs.body ?? {};
  return !Object.entries(mine.body ?? {}).some(
    ([member, value]) => Object.hasOwn(other, member) && JSON.stringify(other[member]) !== JSON.stringify(value),
  );
}

/** Two fields of one body under one name: the one would be sent in place of the other. */
function* renamedProblems({ name, row }: Named, overrides: Overrides) {
  const sent = new Map<string, string>();
  for (const slot of Object.keys(row.body ?? {})) {
    const wire = wireName(name, slot, overrides) ?? slot;
    const before = sent.get(wire);
    if (before !== undefined) {
      yield `${fieldKey(name, before)} and ${fieldKey(name, slot)} would both be sent as ${JSON.stringify(wire)} by ${name}`;
    }
    sent.set(wire, slot);
  }
}

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Headers that say who asks, where a message ends and where it goes. */
const OF_HTTP =
  /^(?:host|authorization|proxy-.*|cookie|connection|keep-alive|content-.*|transfer-encoding|accept.*|te|trailer|upgrade|expect)$/i;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Reads the JSON text of an override file. Throws `usage` naming the file and the entry that is wrong. */
export function readOverrides(json: string, file: string): Overrides {
  const wrong = (what: string) =>
    new CliError('usage', { message: `contract overrides in ${file}: ${what}`, outcome: 'not_sent' });
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw wrong(notJson(json));
  }
  const overrides: Overrides = { ...NO_OVERRIDES, ...(parsed as Overrides) };
  const problem = formProblems(parsed).next().value ?? problemsOf(overrides).next().value;
  if (problem !== undefined) throw wrong(problem);
  return overrides;
}

const FORMS = { operations: operationProblem, fields: fieldProblem, headers: headerProblem };

/** What is no override at all. */
function* formProblems(file: unknown): Generator<string, undefined> {
  if (!isObject(file)) yield 'the file must be an object';
  for (const [part, entries] of Object.entries(file as object)) {
    if (!Object.hasOwn(FORMS, part)) yield `unknown key ${JSON.stringify(part)}`;
    if (!isObject(entries)) yield `${part} must be an object`;
    for (const [name, value] of Object.entries(entries)) {
      const problem = FORMS[part as keyof Overrides](name, value);
      if (problem !== undefined) yield problem;
    }
  }
}

function operationProblem(name: string, value: unknown): string | undefined {
  if (!Object.hasOwn(OPERATIONS, name)) {
    return `unknown operation ${JSON.stringify(name)}; known: ${Object.keys(OPERATIONS).join(' ')}`;
  }
  if (!isObject(value)) return `${name} must be an object`;
  const stranger = Object.keys(value).find(key => !['method', 'path', 'body'].includes(key));
  if (stranger !== undefined) return `${name} has an unknown key ${JSON.stringify(stranger)}`;
  const { method = 'GET', path = '/', body = {} } = value;
  if (!METHODS.includes(method as string)) return `${name}.method must be one of ${METHODS.join(', ')}`;
  const problem = pathProblem(typeof path === 'string' ? path : '');
  if (problem !== undefined) return `${name}.path ${problem}`;
  // Parameters of the row, and those of its query: `/cards/{card_id}/transactions` is a known other form.
  const { params, query }: Operation = OPERATIONS[name as keyof typeof OPERATIONS];
  const [unknown] = [...String(path).matchAll(/\{(\w*)\}/g)].filter(
    ([, param = '']) => !Object.hasOwn({ ...params, ...query }, param),
  );
  if (unknown !== undefined) return `${name}.path has the unknown parameter ${unknown[0]}`;
  return isObject(body) ? undefined : `${name}.body must be an object`;
}

function fieldProblem(name: string, value: unknown): string | undefined {
  const [group = '', slot] = name.split('.');
  if (!(FIELD_GROUPS as readonly string[]).includes(group) || !slot) {
    return `unknown field ${JSON.stringify(name)}; write <resource>.<field> with ${FIELD_GROUPS.join(', ')}`;
  }
  return typeof value === 'string' && value !== '' ? undefined : `${name} must be the name on the wire`;
}

function headerProblem(name: string, value: unknown): string | undefined {
  if (!Object.hasOwn(HEADERS, name)) {
    return `unknown header ${JSON.stringify(name)}; known: ${Object.keys(HEADERS).join(' ')}`;
  }
  if (typeof value !== 'string' || !HEADER_NAME.test(value)) return `${name} must be a header name`;
  const isTaken = name === 'idempotency_key' && OF_HTTP.test(value);
  return isTaken ? `${name} cannot be ${value}: that header has a meaning of its own` : undefined;
}
