/** Checks what is sent against the row: by the client before anything leaves, by the sandbox on arrival. */
import type { Shape } from './field.ts';
import { violation } from './violation.ts';

export interface Problem {
  /** Name of the field, on the wire. */
  readonly field: string;
  readonly text: string;
}

/**
 * First problem of a body or a query, values in wire form (money as JSON numbers); undefined when it is fine.
 * Unknown fields are a problem: sending is exact (reading rule 1).
 */
export function shapeProblem(shape: Shape, values: Readonly<Record<string, unknown>>): Problem | undefined {
  for (const [field, row] of Object.entries(shape)) {
    const value = Object.hasOwn(values, field) ? values[field] : undefined;
    if (value === undefined) {
      if (row.must) return { field, text: 'is missing' };
      continue;
    }
    const text = violation(row, value);
    if (text !== undefined) return { field, text };
  }
  const unknown = Object.keys(values).find(key => !Object.hasOwn(shape, key));
  if (unknown === undefined) return undefined;
  return { field: unknown, text: `is not known here; known: ${Object.keys(shape).join(', ') || 'nothing'}` };
}
