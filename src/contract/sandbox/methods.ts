/** Names of the control surface's operations as methods of a program: `simulate.force-post` is `simulate.forcePost`. */
import type { Operation } from '../operation.ts';
import { OPERATIONS } from '../operations.ts';
import { ADMIN_OPERATIONS } from './admin.ts';
import { PAGE_OPERATIONS } from './page.ts';
import { SCENARIO_OPERATIONS } from './scenarios.ts';
import { SERVER_OPERATIONS } from './state.ts';

/** Rows of a sandbox that serves other programs. */
export const OF_STARTED = { ...SERVER_OPERATIONS, ...PAGE_OPERATIONS, ...SCENARIO_OPERATIONS };

/**
 * Every operation but those that a server for other programs has, those of the page in a browser and of scenarios: who started a
 * sandbox in a program ends it there. A
 * name without a dot that answers with rows is `list` of its group: `faults` is `faults.list`.
 */
export const ADMIN_METHODS = Object.entries(ADMIN_OPERATIONS)
  .filter(([operation]) => !Object.hasOwn(OF_STARTED, operation))
  .map(([operation, row]) => ({ operation, row: row as Operation, ...placeOf(operation, row) }));
export type AdminMethod = (typeof ADMIN_METHODS)[number];

/** The group of a method, undefined for one of the sandbox itself, such as `reset`, and its name there. */
function placeOf(operation: string, { returns: { kind } }: Operation): { group: string | undefined; name: string } {
  const [first = '', second] = operation.split('.');
  if (second !== undefined) return { group: first, name: camelCase(second) };
  if (kind === 'list' || kind === 'page') return { group: first, name: 'list' };
  const isGroup = Object.keys(ADMIN_OPERATIONS).some(other => other.startsWith(`${first}.`));
  return isGroup ? { group: first, name: 'show' } : { group: undefined, name: first };
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Methods by group, in the order of the rows; those of no group under undefined. */
export function adminMethodsByGroup(): ReadonlyMap<string | undefined, readonly AdminMethod[]> {
  const groups = new Map<string | undefined, AdminMethod[]>();
  for (const method of ADMIN_METHODS) groups.set(method.group, [...(groups.get(method.group) ?? []), method]);
  return groups;
}

// What a step of a scenario may do: any operation of the service, and of the sandbox what belongs in a story.

export interface StepOperation {
  readonly surface: 'service' | 'admin';
  readonly name: string;
  readonly row: Operation;
}

/** A card's number has no place in a report, and what ends or describes the server none in a story. */
function belongs({ row, name }: StepOperation): boolean {
  return (
    row.effect !== 'reveals-secret' && !/^(?:health|stop|openapi|dialect|snapshots|page|marks|scenarios)\b/.test(name)
  );
}

export const STEP_OPERATIONS: ReadonlyMap<string, StepOperation> = new Map(
  [
    ...Object.entries(OPERATIONS).map(([name, row]): StepOperation => ({ surface: 'service', name, row })),
    ...Object.entries(ADMIN_OPERATIONS).map(([name, row]): StepOperation => ({ surface: 'admin', name, row })),
  ]
    .filter(belongs)
    .map(operation => [operation.name, operation]),
);

/** Path parameters, query and body side by side, as callers hand them in. */
export function fieldsOf({ row }: StepOperation) {
  return { ...row.params, ...row.query, ...row.body };
}
