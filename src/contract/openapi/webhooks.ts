/** The events of interface 6 as `webhooks` of the OpenAPI document: envelope, data and signature headers. */
import { assumed, type Basis, stated } from '../basis.ts';
import { HEADERS } from '../envelopes.ts';
import { EVENT_ENVELOPE, EVENTS, type EventRow } from '../events.ts';
import { type JsonSchema, marks, shapeSchema } from '../json-schema.ts';
import { schemaRef } from './schemas.ts';

export function eventWebhooks(): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(EVENTS).map(([name, row]) => [name, { post: eventPost(name, row) }]));
}

function eventPost(name: string, row: EventRow): JsonSchema {
  return {
    operationId: `events.${name}`,
    summary: row.meaning,
    tags: ['events'],
    security: [],
    parameters: deliveryHeaders(),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: eventSchema(name, row) } },
      ...marks(row.basis),
    },
    responses: {
      '2XX': {
        description: 'Taken, within 15 seconds.',
        ...marks(assumed('A-78', 'delivery retries and timeouts are not shown')),
      },
    },
    ...marks(row.basis),
  };
}

function eventSchema(name: string, { data, basis }: EventRow): JsonSchema {
  const envelope = shapeSchema(EVENT_ENVELOPE, 'answer') as {
    properties: Record<string, JsonSchema>;
    required: string[];
  };
  const { type, ...properties } = envelope.properties;
  const carried: Basis = stated('6', assumed('A-74', 'what the payload holds is not shown'));
  return {
    ...envelope,
    properties: {
      ...properties,
      type: { ...type, const: name },
      data: { ...schemaRef(data, 'answer'), ...marks(carried) },
    },
    required: [...envelope.required, 'data'],
    ...marks(basis),
  };
}

function deliveryHeaders(): readonly JsonSchema[] {
  const { webhook_signature, webhook_id, webhook_attempt, webhook_timestamp } = HEADERS;
  const text = { type: 'string' };
  return [
    header(webhook_signature, true, {
      about: 'HMAC-SHA256 of the exact body with the secret of the subscription, in lowercase hex.',
      schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    }),
    header(webhook_id, false, { about: 'Identifier of the event.', schema: text }),
    header(webhook_attempt, false, {
      about: 'Number of the attempt, from 1.',
      schema: { type: 'integer', minimum: 1 },
    }),
    header(webhook_timestamp, false, { about: 'When it was sent. Not signed.', schema: text }),
  ];
}

function header(
  { name, basis }: { readonly name: string; readonly basis: Basis },
  required: boolean,
  { about, schema }: { readonly about: string; readonly schema: JsonSchema },
): JsonSchema {
  return { name, in: 'header', required, description: about, schema: { ...schema, ...marks(basis) }, ...marks(basis) };
}
