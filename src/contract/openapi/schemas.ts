/** Schemas of the OpenAPI document by name, with examples. */
import { assumed, stated } from '../basis.ts';
import { EXAMPLES } from '../examples.ts';
import type { Shape } from '../field.ts';
import { fieldSchema, type JsonSchema, marks, shapeSchema, type Use } from '../json-schema.ts';
import { NAMED_SHAPES } from '../named-shapes.ts';
import { REFUSALS } from '../refusals.ts';
import { ERROR_BODY } from '../resources.ts';

/** A reference where the shape has a name, else the schema itself. */
export function schemaRef(shape: Shape, use: Use): JsonSchema {
  const title = NAMED_SHAPES.find(named => named.shape === shape)?.title;
  return title === undefined ? shapeSchema(shape, use) : { $ref: `#/components/schemas/${title}` };
}

/** Every named object of the wire, in the order of the interface. */
export function schemas(): Record<string, JsonSchema> {
  const named = NAMED_SHAPES.flatMap(({ title, shape, use, basis }) => {
    if (title === undefined) return [];
    const example = EXAMPLES[title];
    const schema = shape === ERROR_BODY ? errorSchema() : shapeSchema(shape, use);
    return [[title, { ...schema, ...(example && { examples: [example] }), ...marks(basis) }] as const];
  });
  return Object.fromEntries(named);
}

/** The error body with its identifiers as a closed list: the sandbox sends no other, the client accepts any. */
export function errorSchema(): JsonSchema {
  const identifiers = {
    ...fieldSchema(ERROR_BODY.error, 'answer'),
    enum: Object.keys(REFUSALS),
    ...marks(stated('2.7', assumed('A-101', 'the complete list of identifiers is not shown'))),
  };
  const schema = shapeSchema(ERROR_BODY, 'answer') as { properties: object };
  return { ...schema, properties: { ...schema.properties, error: identifiers } };
}
