/** The contract as an OpenAPI 3.1 document, generated from the tables alone, for tools nobody here wrote (SANDBOX, 12). */
import { type Basis, stated } from './basis.ts';
import { fieldSchema, type JsonSchema, marks } from './json-schema.ts';
import { NAMED_SHAPES } from './named-shapes.ts';
import { components } from './openapi-components.ts';
import { errorResponses, successResponse } from './openapi-responses.ts';
import { schemaRef } from './openapi-schemas.ts';
import { eventWebhooks } from './openapi-webhooks.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';

/** Version of the service the document describes: the path segment of interface 9. */
export const SERVICE_VERSION = 'v1';

const TAGS = {
  bins: 'Ranges cards are issued from.',
  cards: 'Issue, fund, freeze, reveal and terminate cards.',
  transactions: 'What happened on cards.',
  wallet: 'The account wallet and the addresses that top it up.',
  challenges: '3DS challenges and their one-time codes.',
  webhooks: 'Subscriptions to events.',
  events: 'What is posted to subscriptions.',
} as const;

/**
 * The document as plain JSON values, the same on every call: operations in the order of the interface's table, every
 * node marked with the section that states it (`x-stated`) or the assumption that fills it (`x-assumed`).
 */
export function openApiDocument(version: string = SERVICE_VERSION): Readonly<Record<string, unknown>> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Virtual card issuing service',
      version,
      summary: 'Issue virtual cards, fund them from a wallet, follow their transactions.',
      description:
        'x-stated names the section of the interface that states a node, x-assumed the assumption that fills what the interface does not show. A node may have both.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: '{base_url}',
        description: 'Base address of the service or of a sandbox; it holds the version.',
        variables: { base_url: { default: 'http://localhost/v1', description: 'Ends in /v1.' } },
        ...marks(stated('1')),
      },
    ],
    security: [{ bearer: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: paths(),
    webhooks: eventWebhooks(),
    components: components(),
  };
}

function paths(): Record<string, Record<string, unknown>> {
  const table: Record<string, Record<string, unknown>> = {};
  for (const [name, row] of Object.entries(OPERATIONS) as [string, Operation][]) {
    table[row.path] = { ...table[row.path], [row.method.toLowerCase()]: operationObject(name, row) };
  }
  return table;
}

function operationObject(name: string, row: Operation): JsonSchema {
  const parameters = parametersOf(row);
  return {
    operationId: name,
    summary: row.summary,
    tags: [name.split('.')[0]],
    ...(parameters.length > 0 && { parameters }),
    ...(row.body && { requestBody: requestBody(row.body) }),
    responses: { [row.returns.status]: successResponse(row), ...errorResponses(row) },
    ...(row.emits && { 'x-emits': [...row.emits] }),
    ...marks(row.basis),
  };
}

function parametersOf({ params = {}, query = {}, method }: Operation): unknown[] {
  const listed = [
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
  return method === 'POST' ? [...listed, { $ref: '#/components/parameters/IdempotencyKey' }] : listed;
}

function requestBody(shape: NonNullable<Operation['body']>): JsonSchema {
  const basis: Basis = NAMED_SHAPES.find(named => named.shape === shape)?.basis ?? {};
  return {
    required: Object.values(shape).some(field => field.must),
    content: { 'application/json': { schema: schemaRef(shape, 'request') } },
    ...marks(basis),
  };
}
