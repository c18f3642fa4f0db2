/**
 * Reads a file of contract overrides (docs/design/cli.md), and refuses what an override may not do. Guard, confirmation, journal and retries follow the effect of the row,
 * so an override says how an operation is asked for and never makes it another one: a read stays a read, a change
 * does what its row says, to the card that was named, with the values that were asked for.
 */

import { CliError } from '../core/errors.ts';
import { notJson } from '../core/json-position.ts';
import { HEADERS } from './envelopes.ts';
import type { Method, Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { FIELD_GROUPS, fieldKey, NO_OVERRIDES, type OperationOverride, type Overrides, wireName } from './overrides.ts';
import { mayMeet, pathProblem } from './route.ts';

interface Named {
  readonly name: string;
  readonly row: Operation;
}

interface Route {
  readonly method: Method;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

const ROWS: readonly Named[] = Object.entries(OPERATIONS).map(([name, row]) => ({ name, row }));
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

const routeOf = (row: Operation, { method = row.method, path = row.path, body }: OperationOverride): Route => ({
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
  const top = record(parsed, wrong, 'the file');
  const stranger = Object.keys(top).find(key => !Object.hasOwn(NO_OVERRIDES, key));
  if (stranger !== undefined) throw wrong(`unknown key ${JSON.stringify(stranger)}`);
  const each = <T>(key: keyof Overrides, read: (name: string, value: unknown, wrong: Wrong) => T) =>
    Object.fromEntries(
      Object.entries(record(top[key] ?? {}, wrong, key)).map(([name, value]) => [name, read(name, value, wrong)]),
    );
  const overrides: Overrides = {
    operations: each('operations', operationOverride),
    fields: each('fields', fieldOverride),
    headers: each('headers', headerOverride),
  };
  const { value: problem } = problemsOf(overrides).next();
  if (problem !== undefined) throw wrong(problem);
  return overrides;
}

type Wrong = (what: string) => CliError;

function record(value: unknown, wrong: Wrong, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(`${where} must be an object`);
  return value as Record<string, unknown>;
}

function operationOverride(name: string, value: unknown, wrong: Wrong): OperationOverride {
  if (!Object.hasOwn(OPERATIONS, name)) {
    throw wrong(`unknown operation ${JSON.stringify(name)}; known: ${Object.keys(OPERATIONS).join(' ')}`);
  }
  const row = record(value, wrong, name);
  for (const key of Object.keys(row)) {
    if (!['method', 'path', 'body'].includes(key)) throw wrong(`${name} has an unknown key ${JSON.stringify(key)}`);
  }
  const { method, path, body } = row;
  if (method !== undefined && !(typeof method === 'string' && METHODS.includes(method))) {
    throw wrong(`${name}.method must be one of ${METHODS.join(', ')}`);
  }
  if (path !== undefined && typeof path !== 'string') throw wrong(`${name}.path must begin with / and hold no query`);
  const problem = path === undefined ? undefined : pathProblem(path);
  if (problem !== undefined) throw wrong(`${name}.path ${problem}`);
  const unknown = [...String(path ?? '').matchAll(/\{(\w*)\}/g)].find(([, param]) => !knownParam(name, param ?? ''));
  if (unknown) throw wrong(`${name}.path has the unknown parameter ${unknown[0]}`);
  return {
    ...(method === undefined ? {} : { method: method as Method }),
    ...(path === undefined ? {} : { path: path as `/${string}` }),
    ...(body === undefined ? {} : { body: record(body, wrong, `${name}.body`) }),
  };
}

/** Parameters of the row, and those of its query: `/cards/{card_id}/transactions` is a known other form. */
function knownParam(name: string, param: string): boolean {
  const row = OPERATIONS[name as keyof typeof OPERATIONS] as { params?: object; query?: object };
  return Object.hasOwn(row.params ?? {}, param) || Object.hasOwn(row.query ?? {}, param);
}

function fieldOverride(name: string, value: unknown, wrong: Wrong): string {
  const [group = '', slot] = name.split('.');
  if (!(FIELD_GROUPS as readonly string[]).includes(group) || !slot) {
    throw wrong(`unknown field ${JSON.stringify(name)}; write <resource>.<field> with ${FIELD_GROUPS.join(', ')}`);
  }
  if (typeof value !== 'string' || value === '') throw wrong(`${name} must be the name on the wire`);
  return value;
}

function headerOverride(name: string, value: unknown, wrong: Wrong): string {
  if (!Object.hasOwn(HEADERS, name))
    throw wrong(`unknown header ${JSON.stringify(name)}; known: ${Object.keys(HEADERS).join(' ')}`);
  if (typeof value !== 'string' || !HEADER_NAME.test(value)) throw wrong(`${name} must be a header name`);
  if (name === 'idempotency_key' && OF_HTTP.test(value))
    throw wrong(`${name} cannot be ${value}: that header has a meaning of its own`);
  return value;
}
