/** Shared parts of the OpenAPI document: schemas, the idempotency header, answer headers, the answers all operations share. */
import { assumed, type Basis, stated } from './basis.ts';
import { FIXED_HEADERS, HEADERS } from './envelopes.ts';
import { EXAMPLES } from './examples.ts';
import type { Shape } from './field.ts';
import { fieldSchema, type JsonSchema, marks, shapeSchema, type Use } from './json-schema.ts';
import { LIMITS } from './limits.ts';
import { NAMED_SHAPES } from './named-shapes.ts';
import { sharedResponses } from './openapi-responses.ts';
import { REFUSALS } from './refusals.ts';
import { ERROR_BODY } from './resources.ts';

export function components(): JsonSchema {
  return {
    securitySchemes: {
      bearer: {
        type: 'http',
        scheme: 'bearer',
        description: 'An API key: sk_live_ for production, sk_test_ for the sandbox.',
        'x-secret': true,
        ...marks(HEADERS.authorization.basis),
      },
    },
    parameters: { IdempotencyKey: idempotencyKey() },
    headers: answerHeaders(),
    responses: sharedResponses(),
    schemas: schemas(),
  };
}

/** A reference where the shape has a name, else the schema itself. */
export function schemaRef(shape: Shape, use: Use): JsonSchema {
  const title = NAMED_SHAPES.find(named => named.shape === shape)?.title;
  return title === undefined ? shapeSchema(shape, use) : { $ref: `#/components/schemas/${title}` };
}

function schemas(): Record<string, JsonSchema> {
  const named = NAMED_SHAPES.flatMap(({ title, shape, use, basis }) => {
    if (title === undefined) return [];
    const example = EXAMPLES[title];
    const schema = shape === ERROR_BODY ? errorSchema() : shapeSchema(shape, use);
    return [[title, { ...schema, ...(example && { examples: [example] }), ...marks(basis) }] as const];
  });
  return Object.fromEntries(named);
}

/** The error body with its identifiers as a closed list: the sandbox sends no other, the client accepts any. */
function errorSchema(): JsonSchema {
  const identifiers = {
    ...fieldSchema(ERROR_BODY.error, 'answer'),
    enum: Object.keys(REFUSALS),
    ...marks(stated('2.7', assumed('A-101', 'the complete list of identifiers is not shown'))),
  };
  const schema = shapeSchema(ERROR_BODY, 'answer') as { properties: object };
  return { ...schema, properties: { ...schema.properties, error: identifiers } };
}

function idempotencyKey(): JsonSchema {
  const { basis, min, max } = LIMITS.idempotencyKey;
  return {
    name: HEADERS.idempotency_key.name,
    in: 'header',
    required: false,
    description: 'A unique text of the client, for safe retries.',
    schema: { type: 'string', minLength: min, maxLength: max, pattern: '^[\\x20-\\x7e]+$', ...marks(basis) },
    ...marks(HEADERS.idempotency_key.basis),
  };
}

function answerHeaders(): Record<string, JsonSchema> {
  const text = { type: 'string' };
  const count = { type: 'integer', minimum: 0 };
  return {
    RequestId: header('Identifier of the request, as in error bodies.', text, HEADERS.request_id.basis),
    RetryAfter: header('Seconds to wait before the next try.', count, HEADERS.retry_after.basis),
    IdempotentReplayed: header(
      'The answer was given before, to a request with the same key.',
      { type: 'string', enum: ['true'] },
      HEADERS.idempotent_replayed.basis,
    ),
    Authenticate: header('How to authenticate.', text, FIXED_HEADERS.www_authenticate.basis),
    Allow: header('Methods of the route.', text, FIXED_HEADERS.allow.basis),
    RateLimitLimit: header('Requests a minute.', count, FIXED_HEADERS.rate_limit_limit.basis),
    RateLimitRemaining: header('Requests left now.', count, FIXED_HEADERS.rate_limit_remaining.basis),
    RateLimitReset: header('When one is free again.', count, FIXED_HEADERS.rate_limit_reset.basis),
  };
}

function header(description: string, schema: JsonSchema, basis: Basis): JsonSchema {
  return { description, schema: { ...schema, ...marks(basis) }, ...marks(basis) };
}
