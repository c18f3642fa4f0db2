/** Checks what is sent against the row: by the client before anything leaves, by the sandbox on arrival. */
import type { Shape } from './field.ts';
import { violation } from './violation.ts';

export interface Problem {
  /** Name of the field, on the wire. */
  readonly field: string;
  readonly text: string;
  /** The word that is none of those there are, and those: for whoever names the nearest one. */
  readonly word?: { readonly given: string; readonly known: readonly string[] };
}

/**
 * First problem of a body or a query, values in wire form (money as JSON numbers); undefined when it is fine.
 * Unknown fields are a problem: sending is exact (reading rule 1).
 */
export function shapeProblem(shape: Shape, values: Readonly<Record<string, unknown>>): Problem | undefined {
  for (const [field, row] of Object.entries(shape)) {
    const value = Object.hasOwn(values, field) ? values[field] : undefined;
    if (value === undefined) {
      if (row.must) return { field, text: row.wanted === undefined ? 'is missing' : `is missing: ${row.wanted}` };
      continue;
    }
    const text = violation(row, value);
    if (text !== undefined) return { field, text, ...wordOf(row.choices, value) };
  }
  const unknown = Object.keys(values).find(key => !Object.hasOwn(shape, key));
  if (unknown === undefined) return undefined;
  const known = Object.keys(shape);
  return {
    field: unknown,
    text: `is not known here; known: ${known.join(', ') || 'nothing'}`,
    ...wordOf(known, unknown),
  };
}

/** Nothing where there are no words to choose from, or no word was given. */
export function wordOf(known: readonly string[] | undefined, given: unknown): Pick<Problem, 'word'> {
  return known === undefined || typeof given !== 'string' ? {} : { word: { given, known } };
}
