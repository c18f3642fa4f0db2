/**
 * The contract as an OpenAPI 3.1 document, generated from the tables alone, for tools nobody here wrote
 * (docs/design/sandbox.md, section 12).
 */
import { stated } from '../basis.ts';
import { marks } from '../json-schema.ts';
import { OPERATIONS } from '../operations.ts';
import { components } from './components.ts';
import { pathsOf } from './operations.ts';
import { errorResponses, successResponse } from './responses.ts';
import { eventWebhooks } from './webhooks.ts';

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
    paths: pathsOf(OPERATIONS, {
      tag: name => name.split('.')[0] ?? name,
      more: ({ method }) => (method === 'POST' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      responses: row => ({ [row.returns.status]: successResponse(row), ...errorResponses(row) }),
    }),
    webhooks: eventWebhooks(),
    components: components(),
  };
}
