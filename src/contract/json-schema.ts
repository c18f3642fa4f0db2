/**
 * Fields and shapes as JSON Schema 2020-12, with marks that tell where each node is known from
 * (docs/design/sandbox.md, section 12).
 */
import { cents, toUsd } from '../core/money.ts';
import { withoutUndefined } from '../core/objects.ts';
import { assumption } from './assumption.ts';
import type { AssumptionId, Basis } from './basis.ts';
import type { AnyField, Shape } from './field.ts';
import { LIMITS } from './limits.ts';
import { flag, integer, maybe, tells } from './own-field.ts';
import { PAGE_META } from './resources.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;
type Part = Record<string, unknown>;

/**
 * What a schema describes. In answers every field is there, in requests only those that must be; so it is in answers of the control
 * surface, which leave out what does not apply (`partial`). A `promise` is what a script may rely on in an answer: no more than the
 * client checks. Fields that must be there are required, others may be absent or null, unknown ones are kept, and words of the
 * service are examples, for it may send others.
 */
export type Use = 'answer' | 'request' | 'partial' | 'promise';

/** `x-stated` and `x-assumed` of a node; empty for what is no fact of the service. */
export function marks({ stated, assumed }: Basis, told: (id: AssumptionId) => unknown = assumedMark): JsonSchema {
  return {
    ...(stated !== undefined && { 'x-stated': stated }),
    ...(assumed !== undefined && { 'x-assumed': told(assumed) }),
  };
}

/** `{id, what, confidence, variants}` of a row of `assumptions.json`; the last two only where the row has them. */
function assumedMark(id: AssumptionId): JsonSchema {
  const { taken, confidence, also } = assumption(id);
  return withoutUndefined({ id, what: taken, confidence, variants: also });
}

/** Schema of one value. Money is a JSON number in USD; its limits become USD too. */
export function fieldSchema(field: AnyField, use: Use): JsonSchema {
  const { doc, kind, defaults, choices, secret, basis } = field;
  const isPromise = use === 'promise';
  const ofService = basis.stated !== undefined || basis.assumed !== undefined;
  const mayBeNull = field.nullable === true || (isPromise && ofService && !field.must);
  const schema = typePart(field, use);
  const preset = kind === 'money' && typeof defaults === 'string' && !isPromise ? ` Default: ${defaults}.` : '';
  if (doc !== '') schema['description'] = doc + preset;
  if (choices && isPromise && ofService) schema['examples'] = choices;
  else if (choices) schema['enum'] = mayBeNull ? [...choices, null] : [...choices];
  if (mayBeNull && schema['type'] !== undefined) schema['type'] = [schema['type'], 'null'];
  const value = use === 'request' ? defaultOf(field) : undefined;
  if (value !== undefined) schema['default'] = value;
  if (secret) schema['x-secret'] = true;
  return { ...schema, ...marks(basis, isPromise ? id => id : assumedMark) };
}

/**
 * Schema of an object, its properties under their names on the wire. Objects are closed, but for those of a promise, maps, and shapes
 * that name nothing.
 */
export function shapeSchema(shape: Shape, use: Use): JsonSchema {
  const rows = Object.entries(shape).map(
    ([name, field]) => [use === 'promise' ? name : (field.wire ?? name), field] as const,
  );
  if (rows.length === 0 && use !== 'promise') return { type: 'object' };
  const required = rows.filter(([, field]) => use === 'answer' || field.must).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(rows.map(([name, field]) => [name, fieldSchema(field, use)])),
    ...(required.length > 0 && { required }),
    ...(use !== 'promise' && { additionalProperties: false }),
  };
}

/** A promise has no limits; an object of which it tells no shape may be of any kind. */
function typePart(field: AnyField, use: Use): Part {
  const limits = (part: Part) => (use === 'promise' ? {} : part);
  switch (field.kind) {
    case 'money':
      return { type: 'number', ...limits({ ...range(field, cent => toUsd(cents(cent))), 'x-decimals': 2 }) };
    case 'integer':
    case 'number':
      return { type: field.kind, ...limits(range(field, value => value)) };
    case 'flag':
      return { type: 'boolean' };
    case 'time':
      // Requests take a bare date as well (4.4: "Start date, ISO 8601"); answers hold instants only.
      if (use === 'request') return { type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] };
      return { type: 'string', format: 'date-time' };
    case 'list':
      return {
        type: 'array',
        ...(field.item && { items: fieldSchema(field.item, use) }),
        ...(field.must && use === 'request' && { minItems: 1 }),
      };
    case 'map':
      return {
        type: 'object',
        ...limits({
          ...(field.maxKeys !== undefined && { maxProperties: field.maxKeys }),
          propertyNames: { minLength: 1, maxLength: LIMITS.metadataKeyLength.max },
          additionalProperties: {
            type: 'string',
            maxLength: LIMITS.metadataValueLength.max,
            ...marks(LIMITS.metadataValueLength.basis),
          },
        }),
      };
    case 'object':
      return field.shape ? { ...shapeSchema(field.shape, use) } : limits({ type: 'object' });
    default:
      return { type: 'string', ...limits(textPart(field)) };
  }
}

function textPart({ must, choices, minLength, maxLength, printable }: AnyField): Part {
  return withoutUndefined({
    minLength: minLength ?? (must && !choices ? 1 : undefined),
    // Format and unassigned characters are refused too; validators agree on control characters alone.
    pattern: printable ? '^[^\\x00-\\x1f\\x7f-\\x9f]*$' : undefined,
    maxLength,
  });
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

/** `{data, page}` around rows of a shape; `page` tells what this list says of itself besides. */
export function listSchema(shape: Shape, page: Shape = {}): JsonSchema {
  const facts = Object.entries(PAGE_META).map(([name, { doc }]) => [name, integer(doc)]);
  const own = Object.entries(page).map(([name, field]) => [name, maybe(field)]);
  const where: Shape = {
    ...Object.fromEntries(facts),
    has_more: flag('Whether there are further pages.'),
    pages: integer('Pages that were read, with --all, --limit or a filter.'),
    limit: integer('The --limit that ended it.'),
    ...Object.fromEntries(own),
  };
  const list = {
    data: tells.rows(shape, ''),
    page: tells.object(where, 'Where the list stands; what is not known is left out.'),
  };
  return shapeSchema(list, 'promise');
}
