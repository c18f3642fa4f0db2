/** What a step of a scenario may do: any operation of the service, and of the sandbox what belongs in a story. */
import type { Operation } from '../operation.ts';
import { OPERATIONS } from '../operations.ts';
import { ADMIN_OPERATIONS } from './admin.ts';

export interface StepOperation {
  readonly surface: 'service' | 'admin';
  readonly name: string;
  readonly row: Operation;
}

/** A card's number has no place in a report, and what ends or describes the server none in a story. */
function belongs({ row, name }: StepOperation): boolean {
  return (
    row.effect !== 'reveals-secret' &&
    !/^(?:health|stop|openapi|dialect|snapshots|keys|page|marks|scenarios|acts)\b/.test(name)
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
