/** The sandbox's own control surface as an OpenAPI 3.1 document. Nothing of it is a fact of the service. */
import { type JsonSchema, shapeSchema } from '../json-schema.ts';
import type { Operation } from '../operation.ts';
import { PAGE_META } from '../resources.ts';
import { ADMIN_OPERATIONS } from '../sandbox/admin.ts';
import { ADMIN_PATH } from '../sandbox/basis.ts';
import { TRANSFERS } from '../sandbox/snapshots.ts';
import { DESCRIPTIONS, errorSchema, fileContent, listSchema, pathsOf } from './document.ts';

const TAGS = {
  health: 'Whether it is there, and whether it is the one.',
  accounts: 'Accounts of a server of many.',
  status: 'What the sandbox holds.',
  reset: 'Starting over.',
  simulate: 'What merchants, card holders and the chain do.',
  clock: 'The clock of the sandbox.',
  deposits: 'Deposits, whatever became of them.',
  events: 'Events in their order.',
  ledger: 'The books, and whether they are whole.',
  deliveries: 'What was sent to subscriptions.',
  webhooks: 'Sending once more, examples, secrets.',
  faults: 'Failing on purpose.',
  requests: 'What was asked of the service.',
  dialect: 'How the service is spoken.',
  stop: 'Ending a server that was started for other programs.',
  snapshots: 'What it held, kept under a name and put back.',
  export: 'What it holds, in one file.',
  import: 'Such a file, put back.',
  transactions: 'Why a purchase was declined.',
  cards: 'What happened to a card.',
  overview: 'Where the money is, and what is open.',
  timers: 'What happens by itself.',
  page: 'The inspector in a browser: how it is opened.',
  challenges: 'The code of a 3DS challenge, for the inspector.',
  scenarios: 'Files of steps that the inspector plays.',
  marks: 'Whether anything changed.',
  openapi: 'This document, and that of the service.',
} as const;

/** What any operation may answer when it does not do what was asked. */
const FAILURES = {
  400: 'The request is not as this document has it.',
  401: 'The token is missing or unknown.',
  403: 'A live key, or a web page.',
  404: 'There is no such thing.',
  409: 'What it names is in no state for it.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  500: 'A fault of the sandbox.',
  503: 'The store is busy; nothing happened.',
} as const;

/** The document as plain JSON values. `version` is that of cardwright. */
export function sandboxOpenApiDocument(version: string): Readonly<Record<string, unknown>> {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  const failures: Record<string, JsonSchema> = Object.fromEntries(
    Object.keys(FAILURES).map(status => [status, { $ref: `#/components/responses/Failed${status}` }]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Control surface of the cardwright sandbox',
      version,
      summary: 'Let time pass, let merchants buy, let things fail; look at books, events and deliveries.',
      description: 'Not part of the service: it has a token of its own and never stands below /v1.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: `{origin}${ADMIN_PATH}`,
        description: 'Where the sandbox listens.',
        variables: { origin: { default: 'http://localhost', description: 'Scheme, host and port.' } },
      },
    ],
    security: [{ token: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: pathsOf(
      { ...ADMIN_OPERATIONS, ...TRANSFERS },
      {
        tag: (_name, { path }) => /^\/(\w+)/.exec(path)?.[1] ?? '',
        more: () => [],
        responses: row => ({ [row.returns.status]: success(row), ...failures }),
      },
    ),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The token of the sandbox.', 'x-secret': true },
      },
      responses: Object.fromEntries(
        Object.entries(FAILURES).map(([status, description]) => [`Failed${status}`, { description, content }]),
      ),
      schemas: { Error: errorSchema(), PageMeta: shapeSchema(PAGE_META, 'answer') },
    },
  };
}

function success({ returns }: Operation): JsonSchema {
  const { kind, shape, contentType } = returns;
  if (kind === 'none') return { description: DESCRIPTIONS.none };
  if (contentType !== undefined) return { description: 'The file.', content: fileContent(contentType) };
  const item = shapeSchema(shape, 'partial');
  const schema = kind === 'one' ? item : listSchema(returns, item);
  return { description: DESCRIPTIONS[kind], content: { 'application/json': { schema } } };
}
