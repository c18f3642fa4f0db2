/**
 * Fields and shapes as JSON Schema 2020-12, with marks that tell where each node is known from
 * (docs/design/sandbox.md, section 12).
 */
import { cents, toUsd } from '../core/money.ts';
import { assumption } from './assumption.ts';
import type { AssumptionId, Basis } from './basis.ts';
import type { AnyField, Shape } from './field.ts';
import { LIMITS } from './limits.ts';
import { PAGE_META } from './resources.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;
type Part = Record<string, unknown>;

/**
 * What a schema describes. In answers every field is there, in requests only those that must be; so it is in answers
 * of the control surface, which leave out what does not apply (`partial`).
 */
export type Use = 'answer' | 'request' | 'partial';

/** `x-stated` and `x-assumed` of a node; empty for what is no fact of the service. */
export function marks(basis: Basis): JsonSchema {
  return {
    ...(basis.stated !== undefined && { 'x-stated': basis.stated }),
    ...(basis.assumed !== undefined && { 'x-assumed': assumedMark(basis.assumed) }),
  };
}

/** `{id, what, confidence, variants}` of a row of `assumptions.json`; the last two only where the row has them. */
function assumedMark(id: AssumptionId): JsonSchema {
  const { taken, confidence, also } = assumption(id);
  return {
    id,
    what: taken,
    ...(confidence !== undefined && { confidence }),
    ...(also !== undefined && { variants: also }),
  };
}

/** Schema of one value. Money is a JSON number in USD; its limits become USD too. */
export function fieldSchema(field: AnyField, use: Use): JsonSchema {
  const schema: Part = { ...typePart(field, use), description: description(field) };
  if (field.choices) schema['enum'] = field.nullable ? [...field.choices, null] : [...field.choices];
  if (field.nullable) schema['type'] = [schema['type'], 'null'];
  const preset = use === 'request' ? defaultOf(field) : undefined;
  if (preset !== undefined) schema['default'] = preset;
  if (field.secret) schema['x-secret'] = true;
  return { ...schema, ...marks(field.basis) };
}

/** Schema of an object, its properties under their names on the wire. Objects are closed; maps, and shapes that name nothing, are not. */
export function shapeSchema(shape: Shape, use: Use): JsonSchema {
  const rows = Object.entries(shape);
  if (rows.length === 0) return { type: 'object' };
  const required = rows.filter(([, field]) => use === 'answer' || field.must).map(wireName);
  return {
    type: 'object',
    properties: Object.fromEntries(rows.map(row => [wireName(row), fieldSchema(row[1], use)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function wireName([name, field]: readonly [string, AnyField]): string {
  return field.wire ?? name;
}

function typePart(field: AnyField, use: Use): Part {
  switch (field.kind) {
    case 'money':
      return { type: 'number', ...range(field, cent => toUsd(cents(cent))), 'x-decimals': 2 };
    case 'integer':
    case 'number':
      return { type: field.kind, ...range(field, value => value) };
    case 'flag':
      return { type: 'boolean' };
    case 'time':
      return { type: 'string', ...timePart(use) };
    case 'list':
      return {
        type: 'array',
        ...(field.item && { items: fieldSchema(field.item, use) }),
        ...(field.must && use === 'request' && { minItems: 1 }),
      };
    case 'map':
      return { type: 'object', ...mapPart(field) };
    case 'object':
      return field.shape ? shapeSchema(field.shape, use) : { type: 'object' };
    default:
      return { type: 'string', ...textPart(field) };
  }
}

/** Requests take a bare date as well (4.4: "Start date, ISO 8601"); answers hold instants only. */
function timePart(use: Use): Part {
  return use === 'request' ? { anyOf: [{ format: 'date-time' }, { format: 'date' }] } : { format: 'date-time' };
}

function textPart(field: AnyField): Part {
  return {
    ...(field.must && !field.choices && { minLength: 1 }),
    ...(field.minLength !== undefined && { minLength: field.minLength }),
    // Format and unassigned characters are refused too; validators agree on control characters alone.
    ...(field.printable && { pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]*$' }),
    ...(field.maxLength !== undefined && { maxLength: field.maxLength }),
  };
}

function mapPart(field: AnyField): Part {
  return {
    ...(field.maxKeys !== undefined && { maxProperties: field.maxKeys }),
    propertyNames: { minLength: 1, maxLength: LIMITS.metadataKeyLength.max },
    additionalProperties: {
      type: 'string',
      maxLength: LIMITS.metadataValueLength.max,
      ...marks(LIMITS.metadataValueLength.basis),
    },
  };
}

function range({ min, max }: AnyField, show: (value: number) => number): Part {
  return { ...(min !== undefined && { minimum: show(min) }), ...(max !== undefined && { maximum: show(max) }) };
}

/** A default that is a value. One in words, such as the BIN's maximum, is told in the description. */
function defaultOf({ kind, defaults }: AnyField): unknown {
  if (kind === 'flag') return defaults === undefined ? undefined : defaults === 'true';
  if (kind === 'text' || kind === 'choice') return defaults;
  return typeof defaults === 'number' ? defaults : undefined;
}

function description({ kind, doc, defaults }: AnyField): string {
  return kind === 'money' && typeof defaults === 'string' ? `${doc} Default: ${defaults}.` : doc;
}

// What a script may rely on in an answer. It promises no more than the client checks: fields that must be there are required, others
// may be absent or null, unknown ones are kept, and words of the service are examples, for it may send others.

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
