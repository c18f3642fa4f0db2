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
import { FIELD_GROUPS, fieldKey, type OperationOverride, type Overrides, wireName } from './overrides.ts';
import { mayMeet, pathProblem } from './route.ts';

interface Named {
  readonly name: string;
  readonly row: Operation;
}

interface Changed extends Named {
  readonly override: OperationOverride;
}

interface Route {
  readonly method: Method;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

const ROWS: readonly Named[] = Object.entries(OPERATIONS).map(([name, row]) => ({ name, row }));
const CHANGING: readonly Method[] = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** The first member of the file that would make an operation another one, with why; undefined when none does. */
function overrideProblem(overrides: Overrides): string | undefined {
  for (const { name, row } of ROWS) {
    const override = overrides.operations[name];
    const problem =
      (override && operationProblem({ name, row, override }, overrides)) ?? renamedProblem({ name, row }, overrides);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function operationProblem(changed: Changed, overrides: Overrides): string | undefined {
  return (
    methodProblem(changed) ??
    addressProblem(changed) ??
    bodyProblem(changed, overrides) ??
    routeProblem(changed, overrides)
  );
}

function methodProblem({ name, row, override: { method, body } }: Changed): string | undefined {
  const reads = readingMethods(row);
  const asked = method ?? row.method;
  if (reads === undefined) {
    if (CHANGING.includes(asked)) return undefined;
    return `${name}.method must be POST, PUT, PATCH or DELETE: ${name} changes something, and a ${asked} may be repeated or cached on its way`;
  }
  if (!reads.includes(asked)) return `${name}.method must be ${reads.join(' or ')}: ${name} only reads`;
  return body !== undefined && asked === 'GET' ? `${name}.body cannot be: a GET carries none` : undefined;
}

/** Methods that a reading operation may have; undefined for one that changes something. */
function readingMethods({ effect, alsoReadBy = [] }: Operation): readonly Method[] | undefined {
  return effect === 'read' || effect === 'reveals-secret' ? ['GET', ...alsoReadBy] : undefined;
}

/** Without it, whatever stands in the path would be asked for in place of what the user names. */
function addressProblem({ name, row, override: { path } }: Changed): string | undefined {
  const missing = Object.keys(row.params ?? {}).find(param => path !== undefined && !path.includes(`{${param}}`));
  return missing === undefined ? undefined : `${name}.path must hold {${missing}}: it is what the command names`;
}

function bodyProblem({ name, row, override: { body } }: Changed, overrides: Overrides): string | undefined {
  if (body === undefined) return undefined;
  const asked = Object.keys(row.body ?? {}).flatMap(slot => [slot, wireName(name, slot, overrides) ?? slot]);
  const taken = Object.keys(body).find(member => asked.includes(member));
  if (taken !== undefined) return `${name}.body must not set ${taken}: it is what the command asks for`;
  const other = ROWS.find(
    ({ row: { effect, leadsTo } }) =>
      effect === 'irreversible' &&
      leadsTo !== undefined &&
      leadsTo.value !== row.leadsTo?.value &&
      holds(body, leadsTo.value),
  );
  return other && `${name}.body leads to ${other.row.leadsTo?.value}: that is ${other.name}`;
}

function holds(value: unknown, word: string): boolean {
  if (typeof value === 'string') return value.trim().toLowerCase() === word;
  return typeof value === 'object' && value !== null && Object.values(value).some(part => holds(part, word));
}

/** The route of an operation that is guarded otherwise, where it is now or where it would be without overrides. */
function routeProblem(changed: Changed, overrides: Overrides): string | undefined {
  const mine = routeOf(changed.row, changed.override);
  const reads = changed.row.effect === 'read';
  for (const { name, row } of ROWS) {
    if (name === changed.name || (reads && row.effect === 'read')) continue;
    const theirs = [routeOf(row, overrides.operations[name] ?? {}), routeOf(row, {})];
    if (theirs.some(route => isSame(mine, route))) {
      return `${changed.name}: ${mine.method} ${mine.path} is the route of ${name}, which is guarded by its own rules`;
    }
  }
  return undefined;
}

function routeOf(row: Operation, { method = row.method, path = row.path, body }: OperationOverride): Route {
  return { method, path, body };
}

/** Fixed members that differ tell two operations on one route apart. */
function isSame(mine: Route, theirs: Route): boolean {
  if (mine.method !== theirs.method || !mayMeet(mine.path, theirs.path)) return false;
  const other = theirs.body ?? {};
  return !Object.entries(mine.body ?? {}).some(
    ([member, value]) => Object.hasOwn(other, member) && JSON.stringify(other[member]) !== JSON.stringify(value),
  );
}

/** Two fields of one body under one name: the one would be sent in place of the other. */
function renamedProblem({ name, row }: Named, overrides: Overrides): string | undefined {
  const sent = new Map<string, string>();
  for (const slot of Object.keys(row.body ?? {})) {
    const wire = wireName(name, slot, overrides) ?? slot;
    const before = sent.get(wire);
    if (before !== undefined) {
      const both = [fieldKey(name, before), fieldKey(name, slot)];
      return `${both.join(' and ')} would both be sent as ${JSON.stringify(wire)} by ${name}`;
    }
    sent.set(wire, slot);
  }
  return undefined;
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
  for (const key of Object.keys(top)) {
    if (!['operations', 'fields', 'headers'].includes(key)) throw wrong(`unknown key ${JSON.stringify(key)}`);
  }
  const operations = Object.entries(record(top['operations'] ?? {}, wrong, 'operations'));
  const fields = Object.entries(record(top['fields'] ?? {}, wrong, 'fields'));
  const headers = Object.entries(record(top['headers'] ?? {}, wrong, 'headers'));
  const overrides: Overrides = {
    operations: Object.fromEntries(operations.map(([name, row]) => [name, operationOverride(name, row, wrong)])),
    fields: Object.fromEntries(fields.map(([name, to]) => [name, fieldOverride(name, to, wrong)])),
    headers: Object.fromEntries(headers.map(([name, to]) => [name, headerOverride(name, to, wrong)])),
  };
  const problem = overrideProblem(overrides);
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
