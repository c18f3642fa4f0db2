/** A table of operations as `paths` of an OpenAPI document; what is answered differs between the documents. */
import type { Basis } from '../basis.ts';
import type { Table } from '../calls.ts';
import { fieldSchema, type JsonSchema, marks } from '../json-schema.ts';
import { NAMED_SHAPES } from '../named-shapes.ts';
import type { Operation } from '../operation.ts';
import { schemaRef } from './schemas.ts';

/** What one document says otherwise than another. */
export interface Telling {
  readonly tag: (name: string, row: Operation) => string;
  /** Parameters of an operation beside those of its row. */
  readonly more: (row: Operation) => readonly JsonSchema[];
  readonly responses: (row: Operation) => Readonly<Record<string, JsonSchema>>;
}

/** Path items in the order of the table. */
export function pathsOf(table: Table, telling: Telling): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, row] of Object.entries(table)) {
    paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: operationObject(name, row, telling) };
  }
  return paths;
}

function operationObject(name: string, row: Operation, { tag, more, responses }: Telling): JsonSchema {
  const parameters = [...parametersOf(row), ...more(row)];
  return {
    operationId: name,
    summary: row.summary,
    tags: [tag(name, row)],
    ...(parameters.length > 0 && { parameters }),
    ...(row.body && { requestBody: requestBody(row.body) }),
    ...(row.takes && { requestBody: { required: true, content: fileContent(row.takes) } }),
    responses: responses(row),
    ...(row.credential === 'none' && { security: [] }),
    ...(row.emits && { 'x-emits': [...row.emits] }),
    ...marks(row.basis),
  };
}

/** Of a file, lines or bytes, nothing is told but its type. */
export function fileContent(contentType: string): JsonSchema {
  return { [contentType]: { schema: { type: 'string' } } };
}

function parametersOf({ params = {}, query = {} }: Operation): JsonSchema[] {
  return [
    ...Object.entries(params).map(entry => [...entry, 'path'] as const),
    ...Object.entries(query).map(entry => [...entry, 'query'] as const),
  ].map(([name, field, place]) => ({
    name,
    in: place,
    required: place === 'path' || field.must,
    description: field.doc,
    schema: fieldSchema(field, 'request'),
    ...marks(field.basis),
  }));
}

function requestBody(shape: NonNullable<Operation['body']>): JsonSchema {
  const basis: Basis = NAMED_SHAPES.find(named => named.shape === shape)?.basis ?? {};
  return {
    required: Object.values(shape).some(field => field.must),
    content: { 'application/json': { schema: schemaRef(shape, 'request') } },
    ...marks(basis),
  };
}
