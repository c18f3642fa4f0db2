/**
 * What a script may rely on in an answer, as JSON Schema. Unlike the document of the service this promises no more
 * than the client checks: fields that must be there are required, others may be absent or null, unknown ones are kept,
 * and words of the service are examples, for it may send others.
 */
import type { AnyField, Shape } from './field.ts';
import type { JsonSchema } from './json-schema.ts';
import { PAGE_META } from './resources.ts';

const TYPES: Readonly<Record<AnyField['kind'], string | undefined>> = {
  text: 'string',
  sealed: 'string',
  choice: 'string',
  time: 'string',
  money: 'number',
  number: 'number',
  integer: 'integer',
  flag: 'boolean',
  list: 'array',
  map: 'object',
  // Of any kind when no shape is told.
  object: undefined,
};

/** An object with these fields. */
export function answerSchema(shape: Shape): JsonSchema {
  const names = Object.keys(shape);
  const required = names.filter(name => shape[name]?.must);
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, answerField(field)])),
    ...(required.length > 0 && { required }),
  };
}

/** `{data, page}` around rows of a shape; `page` tells what this list says of itself besides. */
export function listSchema(shape: Shape, page: Shape = {}): JsonSchema {
  const count = (description: string) => ({ type: 'integer', description });
  const facts = Object.entries(PAGE_META).map(([name, { doc }]) => [name, count(doc)]);
  return {
    type: 'object',
    properties: {
      data: { type: 'array', items: answerSchema(shape) },
      page: {
        type: 'object',
        description: 'Where the list stands; what is not known is left out.',
        properties: {
          ...Object.fromEntries(facts),
          has_more: { type: 'boolean', description: 'Whether there are further pages.' },
          pages: count('Pages that were read, with --all, --limit or a filter.'),
          limit: count('The --limit that ended it.'),
          ...(answerSchema(page)['properties'] as object),
        },
      },
    },
    required: ['data', 'page'],
  };
}

function answerField(field: AnyField): JsonSchema {
  const { kind, doc, choices, nullable, must, item, shape, secret, basis } = field;
  const ofService = basis.stated !== undefined || basis.assumed !== undefined;
  const open = nullable === true || (ofService && !must);
  const type = shape === undefined ? TYPES[kind] : 'object';
  return {
    ...(type !== undefined && { type: open ? [type, 'null'] : type }),
    ...(doc !== '' && { description: doc }),
    ...(kind === 'time' && { format: 'date-time' }),
    ...(choices !== undefined && (ofService ? { examples: choices } : { enum: open ? [...choices, null] : choices })),
    ...(item !== undefined && { items: answerField(item) }),
    ...(shape !== undefined && answerParts(shape)),
    ...(secret && { 'x-secret': true }),
    ...(basis.stated !== undefined && { 'x-stated': basis.stated }),
    ...(basis.assumed !== undefined && { 'x-assumed': basis.assumed }),
  };
}

function answerParts(shape: Shape): JsonSchema {
  const { properties, required } = answerSchema(shape);
  return { properties, ...(required !== undefined && { required }) };
}
