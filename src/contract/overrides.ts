/**
 * Contract overrides (docs/design/cli.md): where a real service's routes or names differ from what is assumed; a file of
 * them is read here, and the client applies it. Guard, confirmation, journal and retries follow the effect of the row, so an
 * override says how an operation is asked for and never makes it another one: a read stays a read, a change does what
 * its row says, to the card that was named, with the values that were asked for.
 */
import { CliError } from '../core/errors.ts';
import { notJson } from '../core/json-position.ts';
import { isObject, jsonOrUndefined, type Values } from '../core/objects.ts';
import type { OperationName } from './calls.ts';
import { HEADERS, type HeaderName } from './envelopes.ts';
import { METHODS, type Method, type Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';

export interface OperationOverride {
  readonly method?: Method;
  readonly path?: `/${string}`;
  /** Fixed members added to the body, for example `{ "status": "frozen" }`. */
  readonly body?: Values;
}

export interface Overrides {
  readonly operations: Readonly<Record<string, OperationOverride>>;
  /** `details.number` -> name on the wire. The first part is a resource, see `groupOf`. */
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: Readonly<Partial<Record<HeaderName, string>>>;
}

export const NO_OVERRIDES: Overrides = { operations: {}, fields: {}, headers: {} };

/** Operations that answer with another resource than the one they are named after. */
const OTHER_RESOURCES: Readonly<Record<string, string>> = {
  'cards.details': 'details',
  'cards.fund': 'funding',
  'cards.withdraw': 'funding',
  'wallet.addresses': 'address',
};

/** The resource whose field names an override of this operation changes: `card` of `cards.list`. */
function groupOf(operation: string): string {
  return OTHER_RESOURCES[operation] ?? operation.replace(/s?\..*/, '');
}

/** What an override calls a field of an operation: `card.label`. */
export const fieldKey = (operation: string, slot: string) => `${groupOf(operation)}.${slot}`;

/** Name on the wire that an override gives a field of an operation. */
export function wireName(operation: string, slot: string, overrides: Overrides): string | undefined {
  if (overrides.fields === NO_OVERRIDES.fields) return undefined;
  const key = fieldKey(operation, slot);
  return Object.hasOwn(overrides.fields, key) ? overrides.fields[key] : undefined;
}

// Reading a file, and refusing what an override may not do.

const ROWS = Object.entries(OPERATIONS).map(([name, row]) => ({ name: name as OperationName, row: row as Operation }));
type Named = (typeof ROWS)[number];
type Route = ReturnType<typeof routeOf>;

/** Values of the file that would make an operation another one, with why. */
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
  if (!isReading && method === 'GET') {
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

/** Headers that say who asks, where a message ends and where it goes. */
const OF_HTTP =
  /^(?:host|authorization|proxy-.*|cookie|connection|keep-alive|content-.*|transfer-encoding|accept.*|te|trailer|upgrade|expect)$/i;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Reads the JSON text of an override file. Throws `usage` naming the file and the entry that is wrong. */
export function readOverrides(json: string, file: string): Overrides {
  const wrong = (what: string) =>
    new CliError('usage', { message: `contract overrides in ${file}: ${what}`, outcome: 'not_sent' });
  const parsed = jsonOrUndefined(json);
  if (parsed === undefined) throw wrong(notJson(json));
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
  if (!METHODS.includes(method as Method)) return `${name}.method must be one of ${METHODS.join(', ')}`;
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
  // What is sent in a body or read of an answer, and what is read in place of two fields.
  const slots = (row: Operation) => Object.keys({ ...row.body, ...row.returns.shape });
  const known = ROWS.flatMap(each => slots(each.row).map(slot => fieldKey(each.name, slot))).concat('details.expiry');
  if (!known.includes(name)) {
    const groups = new Set(known.map(field => field.split('.')[0]));
    return `unknown field ${JSON.stringify(name)}; write <resource>.<field> with ${[...groups].join(', ')}`;
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

// Paths of routes and of requests, compared as a service would take them.

/** What is wrong with a path below the base address; undefined when a request may carry it. */
export function pathProblem(path: string): string | undefined {
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[\\#?]/.test(path)) return 'must begin with / and hold no query';
  for (const segment of path.split('/')) {
    const text = decodedSegment(segment);
    if (text === undefined) return 'is not percent-encoded as it should be';
    if (text === '.' || text === '..' || /[/\\]/.test(text)) return 'leads out of the base address';
  }
  return undefined;
}

/** Undefined for a segment that is not percent-encoded as it should be. */
export function decodedSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** The parameters that a template has and a path fills; undefined when the path is another one. */
function paramsOf(template: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [segments(template), segments(path)];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const written = given[index] ?? '';
    const value = decodedSegment(written) ?? written;
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name !== undefined) params[name] = value;
    else if (segment !== value) return undefined;
  }
  return params;
}

/** Whether some request fits both, templates or paths; a parameter may stand for anything, and case does not tell them apart. */
function mayMeet(one: string, other: string): boolean {
  const [mine, theirs] = [segments(one), segments(other)];
  if (mine.length !== theirs.length) return false;
  return mine.every((segment, index) => {
    const against = theirs[index] ?? '';
    return segment.includes('{') || against.includes('{') || folded(segment) === folded(against);
  });
}

function folded(segment: string): string {
  return (decodedSegment(segment) ?? segment).toLowerCase();
}

/** Empty ones do not count. */
function segments(path: string): string[] {
  return path.split('/').filter(part => part !== '');
}

// Which operation a method and a path mean, by the rows and what the profile overrides: a change has the same guards however it
// is asked for.

/** Its path is without the query. */
type RawRequest = Readonly<Record<'method' | 'path', string>> & { readonly body: Values | undefined };

export interface Matched {
  readonly operation: OperationName;
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Values of the body the caller gave; those an override fixes are left out, for they are sent anyway. */
  readonly body: Values;
}

/** The operation; of several that share a route the one whose fixed members stand in the body. */
export function matchOperation(asked: RawRequest, overrides: Overrides): Matched | undefined {
  for (const { name, row } of ROWS) {
    const route = routeOf(row, overrides.operations[name] ?? {});
    const params = paramsOf(route.path, asked.path);
    if (asked.method !== route.method || params === undefined) continue;
    const fixed = Object.entries(route.body ?? {});
    const given = asked.body ?? {};
    if (!fixed.every(([key, value]) => JSON.stringify(given[key]) === JSON.stringify(value))) continue;
    const body = Object.entries(given).filter(([key]) => !fixed.some(([own]) => own === key));
    return { operation: name, params, body: Object.fromEntries(body) };
  }
  return undefined;
}

/** Whether a path, however it is written and with whatever method, is one that reveals a secret. */
export function revealsSecret(path: string, overrides: Overrides): boolean {
  return ROWS.some(
    ({ name, row }) =>
      row.effect === 'reveals-secret' &&
      [row.path, overrides.operations[name]?.path ?? row.path].some(template => mayMeet(template, path)),
  );
}
