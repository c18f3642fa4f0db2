/**
 * What an override may not do to an operation. Guard, confirmation, journal and retries follow the effect of the row,
 * so an override says how an operation is asked for and never makes it another one: a read stays a read, a change
 * does what its row says, to the card that was named, with the values that were asked for.
 */
import type { Method, Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { fieldKey, type OperationOverride, type Overrides, wireName } from './overrides.ts';
import { mayMeet } from './route.ts';

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
export function overrideProblem(overrides: Overrides): string | undefined {
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
