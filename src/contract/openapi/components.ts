/** Shared parts of the OpenAPI document: the key, the idempotency header, answer headers, shared answers, schemas. */
import type { Basis } from '../basis.ts';
import { FIXED_HEADERS, HEADERS } from '../envelopes.ts';
import { type JsonSchema, marks } from '../json-schema.ts';
import { LIMITS } from '../limits.ts';
import { sharedResponses } from './responses.ts';
import { schemas } from './schemas.ts';

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
