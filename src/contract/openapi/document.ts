/**
 * The contract as an OpenAPI 3.1 document, and the control surface of the sandbox as another one, generated from the tables
 * alone, for tools nobody here wrote (docs/design/sandbox.md, section 12).
 */
import { assumed, type Basis, stated } from '../basis.ts';
import type { Table } from '../calls.ts';
import { ENVELOPES, FIXED_HEADERS, HEADERS, type HeaderName } from '../envelopes.ts';
import { EVENT_ENVELOPE, EVENTS, type EventRow } from '../events.ts';
import { EXAMPLES } from '../examples.ts';
import type { Shape } from '../field.ts';
import { fieldSchema, type JsonSchema, marks, shapeSchema, type Use } from '../json-schema.ts';
import { LIMITS } from '../limits.ts';
import { NAMED_SHAPES, namedShape } from '../named-shapes.ts';
import type { Operation } from '../operation.ts';
import { OPERATIONS } from '../operations.ts';
import { REFUSALS, type RefusalName } from '../refusals.ts';
import { ERROR_BODY, PAGE_META } from '../resources.ts';
import { ADMIN_OPERATIONS } from '../sandbox/admin.ts';
import { ADMIN_PATH } from '../sandbox/basis.ts';
import { TRANSFERS } from '../sandbox/snapshots.ts';

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
export function openApiDocument(): JsonSchema {
  return {
    // Version of the service: the path segment of interface 9.
    ...headOf('v1', TAGS, {
      title: 'Virtual card issuing service',
      summary: 'Issue virtual cards, fund them from a wallet, follow their transactions.',
      description:
        'x-stated names the section of the interface that states a node, x-assumed the assumption that fills what the interface does not show. A node may have both.',
    }),
    servers: [
      {
        url: '{base_url}',
        description: 'Base address of the service or of a sandbox; it holds the version.',
        variables: { base_url: { default: 'http://localhost/v1', description: 'Ends in /v1.' } },
        ...marks(stated('1')),
      },
    ],
    security: [{ bearer: [] }],
    paths: pathsOf(OPERATIONS, {
      tag: name => name.split('.')[0] ?? name,
      more: ({ method }) => (method === 'POST' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      responses: row => ({ [row.returns.status]: successResponse(row), ...errorResponses(row) }),
    }),
    webhooks: Object.fromEntries(Object.entries(EVENTS).map(([name, row]) => [name, { post: eventPost(name, row) }])),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key: sk_live_ for production, sk_test_ for the sandbox.',
          'x-secret': true,
          ...marks(HEADERS.authorization.basis),
        },
      },
      parameters: {
        IdempotencyKey: {
          name: HEADERS.idempotency_key.name,
          in: 'header',
          required: false,
          description: HEADERS.idempotency_key.doc,
          schema: {
            type: 'string',
            minLength: LIMITS.idempotencyKey.min,
            maxLength: LIMITS.idempotencyKey.max,
            pattern: '^[\\x20-\\x7e]+$',
            ...marks(LIMITS.idempotencyKey.basis),
          },
          ...marks(HEADERS.idempotency_key.basis),
        },
      },
      headers: Object.fromEntries(Object.entries(ANSWER_HEADERS).map(([title, row]) => [title, headerObject(row)])),
      // Those that operations refer to, and those of routes the document has not, so that every identifier is told.
      responses: Object.fromEntries(Object.entries(SHARED).map(([title, names]) => [title, errorResponse(names)])),
      schemas: schemas(),
    },
  };
}

const headOf = (version: string, tags: Readonly<Record<string, string>>, about: JsonSchema) => ({
  openapi: '3.1.0',
  info: { ...about, version, license: { name: 'MIT', identifier: 'MIT' } },
  tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
});

// Components: answer headers, shared answers, schemas.

/** Headers of answers, by their names among the components. */
const ANSWER_HEADERS = {
  RequestId: HEADERS.request_id,
  RetryAfter: HEADERS.retry_after,
  IdempotentReplayed: HEADERS.idempotent_replayed,
  Authenticate: FIXED_HEADERS.www_authenticate,
  Allow: FIXED_HEADERS.allow,
  RateLimitLimit: FIXED_HEADERS.rate_limit_limit,
  RateLimitRemaining: FIXED_HEADERS.rate_limit_remaining,
  RateLimitReset: FIXED_HEADERS.rate_limit_reset,
} as const;
type AnswerHeader = keyof typeof ANSWER_HEADERS;

const headerObject = ({ doc, schema, basis }: (typeof HEADERS)[HeaderName]): JsonSchema => ({
  description: doc,
  schema: { ...schema, ...marks(basis) },
  ...marks(basis),
});

const headerRefs = (...titles: readonly AnswerHeader[]): JsonSchema =>
  Object.fromEntries(titles.map(title => [ANSWER_HEADERS[title].name, { $ref: `#/components/headers/${title}` }]));

/** On every answer. */
const EVERY_HEADER = ['RequestId', 'RateLimitLimit', 'RateLimitRemaining', 'RateLimitReset'] as const;

// Answers: what an operation returns, and every error it can meet, by status.

/** Refusals that any request can meet, of the key, of the rate limit, of the service itself, by the names of their answers. */
const EVERYWHERE: Readonly<Record<string, readonly RefusalName[]>> = {
  Unauthorized: ['unauthorized'],
  Forbidden: ['forbidden', 'environment_mismatch'],
  RateLimited: ['rate_limited'],
  InternalError: ['internal_error'],
  ServiceUnavailable: ['service_unavailable'],
};
const SHARED: typeof EVERYWHERE = {
  ...EVERYWHERE,
  RouteNotFound: ['route_not_found'],
  MethodNotAllowed: ['method_not_allowed'],
};

const DESCRIPTIONS = {
  none: 'Done; no body.',
  one: 'Done.',
  list: 'The whole list.',
  page: 'One page of the list.',
  raw: 'Anything.',
} as const;

/** The answer of an operation that was executed, in its envelope. */
function successResponse({ method, returns }: Operation): JsonSchema {
  const replayed = method === 'POST' ? (['IdempotentReplayed'] as const) : [];
  const headers = headerRefs(...EVERY_HEADER, ...replayed);
  return { ...answered(returns, shape => schemaRef(shape, 'answer')), headers, ...marks(returns.basis) };
}

/** What is answered, by a schema of one thing; a list in its envelope, a page of one with where it stands. */
function answered({ kind, shape, basis }: Operation['returns'], schemaOf: (shape: Shape) => JsonSchema): JsonSchema {
  const description = DESCRIPTIONS[kind];
  if (kind === 'none') return { description };
  if (kind === 'one') return { description, content: { 'application/json': { schema: schemaOf(shape) } } };
  const { array, paging } = ENVELOPES;
  const meta = { $ref: '#/components/schemas/PageMeta', ...marks(paging.basis) };
  const properties = {
    [array.name]: { type: 'array', items: schemaOf(shape), ...marks(basis) },
    ...(kind === 'page' && { [paging.container]: meta }),
  };
  const required = Object.keys(properties);
  const schema = { type: 'object', properties, required, additionalProperties: false, ...marks(basis) };
  return { description, content: { 'application/json': { schema } } };
}

/** Error answers of an operation by status; those that all operations share are references. */
function errorResponses({ method, body, fails = [] }: Operation): Record<string, JsonSchema> {
  // Of what was sent: a body that is none, a key of the wrong form. A body may come with every method.
  const own: RefusalName[] = ['invalid_request', ...fails];
  if (body) own.push('payload_too_large', 'unsupported_media_type');
  if (method === 'POST') own.push('idempotency_key_reused', 'idempotency_in_progress');
  const names = (Object.keys(REFUSALS) as RefusalName[]).filter(name => own.includes(name));
  const statusOf = (name: RefusalName) => REFUSALS[name].status;
  const answers: Record<string, JsonSchema> = {};
  for (const status of names.map(statusOf)) {
    answers[status] = errorResponse(names.filter(name => statusOf(name) === status));
  }
  for (const [title, shared] of Object.entries(EVERYWHERE)) {
    for (const name of shared) answers[statusOf(name)] = { $ref: `#/components/responses/${title}` };
  }
  return answers;
}

/** Headers of errors beside those of every answer, with the refusals that bring them. */
const ERROR_HEADERS: readonly (readonly [AnswerHeader, ...RefusalName[]])[] = [
  ['RetryAfter', 'rate_limited', 'idempotency_in_progress', 'service_unavailable'],
  ['Authenticate', 'unauthorized'],
  ['Allow', 'method_not_allowed'],
];

function errorResponse(names: readonly RefusalName[]): JsonSchema {
  const headers = ERROR_HEADERS.flatMap(([title, ...by]) => (by.some(name => names.includes(name)) ? [title] : []));
  return {
    description: names.map(name => `\`${name}\`: ${REFUSALS[name].when}.`).join(' '),
    headers: headerRefs(...EVERY_HEADER, ...headers),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    'x-error-ids': [...names],
    ...marks(basisOf(names)),
  };
}

/** Stated when one of them is; the assumption is that of the first that is not. Each one's own is in section 7. */
function basisOf(names: readonly RefusalName[]): Basis {
  const bases = names.map(name => REFUSALS[name].basis);
  return { ...bases.find(basis => basis.assumed !== undefined), ...bases.find(basis => basis.stated !== undefined) };
}

// Paths: a table of operations. What is answered differs between the documents.

/** What one document says otherwise than another. */
interface Telling {
  readonly tag: (name: string, row: Operation) => string;
  /** Parameters of an operation beside those of its row. */
  readonly more: (row: Operation) => readonly JsonSchema[];
  readonly responses: (row: Operation) => Readonly<Record<string, JsonSchema>>;
}

/** Path items in the order of the table. */
function pathsOf(table: Table, { tag, more, responses }: Telling): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, row] of Object.entries(table)) {
    const parameters = [...parametersOf(row), ...more(row)];
    const operation = {
      operationId: name,
      summary: row.summary,
      tags: [tag(name, row)],
      ...(parameters.length > 0 && { parameters }),
      ...(row.body && { requestBody: requestBody(row.body) }),
      ...(row.takes && { requestBody: { required: true, content: fileContent(row.takes) } }),
      responses: responses(row),
      ...(row.credential === 'none' && { security: [] }),
      ...(row.emits && { 'x-emits': [...row.emits] }),
      ...marks(row.basis),
    };
    paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: operation };
  }
  return paths;
}

/** Of a file, lines or bytes, nothing is told but its type. */
const fileContent = (contentType: string) => ({ [contentType]: { schema: { type: 'string' } } });

function parametersOf({ params = {}, query = {} }: Operation): JsonSchema[] {
  return Object.entries({ ...params, ...query }).map(([name, field]) => ({
    name,
    in: Object.hasOwn(params, name) ? 'path' : 'query',
    required: Object.hasOwn(params, name) || field.must,
    description: field.doc,
    schema: fieldSchema(field, 'request'),
    ...marks(field.basis),
  }));
}

function requestBody(shape: NonNullable<Operation['body']>): JsonSchema {
  return {
    required: Object.values(shape).some(field => field.must),
    content: { 'application/json': { schema: schemaRef(shape, 'request') } },
    ...marks(namedShape(shape)?.basis ?? {}),
  };
}

// Webhooks: the events of interface 6 with envelope, data and signature headers.

function eventPost(name: string, { meaning, data, basis }: EventRow): JsonSchema {
  const { webhook_signature, webhook_id, webhook_attempt, webhook_timestamp } = HEADERS;
  const headers = [webhook_signature, webhook_id, webhook_attempt, webhook_timestamp];
  const envelope = shapeSchema(EVENT_ENVELOPE, 'answer') as {
    properties: Record<string, JsonSchema>;
    required: string[];
  };
  const { type, ...properties } = envelope.properties;
  const carried = { ...schemaRef(data, 'answer'), ...marks(stated('6', 'A-74')) };
  const schema = {
    ...envelope,
    properties: { ...properties, type: { ...type, const: name }, data: carried },
    required: [...envelope.required, 'data'],
    ...marks(basis),
  };
  return {
    operationId: `events.${name}`,
    summary: meaning,
    tags: ['events'],
    security: [],
    parameters: headers.map(row => ({
      name: row.name,
      in: 'header',
      required: row === webhook_signature,
      ...headerObject(row),
    })),
    requestBody: { required: true, content: { 'application/json': { schema } }, ...marks(basis) },
    responses: { '2XX': { description: 'Taken, within 15 seconds.', ...marks(assumed('A-78')) } },
    ...marks(basis),
  };
}

// Schemas by name, with examples.

/** A reference where the shape has a name, else the schema itself. */
function schemaRef(shape: Shape, use: Use): JsonSchema {
  const title = namedShape(shape)?.title;
  return title === undefined ? shapeSchema(shape, use) : { $ref: `#/components/schemas/${title}` };
}

/** Every named object of the wire, in the order of the interface. */
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
    ...marks(stated('2.7', 'A-101')),
  };
  const schema = shapeSchema(ERROR_BODY, 'answer') as { properties: object };
  return { ...schema, properties: { ...schema.properties, error: identifiers } };
}

// The control surface of the sandbox.

const SANDBOX_OPERATIONS: Table = { ...ADMIN_OPERATIONS, ...TRANSFERS };

/** The first word of its path. */
const sandboxTag = ({ path }: Operation) => /\w+/.exec(path)?.[0] ?? '';

const SANDBOX_TAGS = Object.fromEntries(
  Object.values(SANDBOX_OPERATIONS).map(row => [sandboxTag(row), `Routes that begin with /${sandboxTag(row)}.`]),
);

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

/** The control surface of the sandbox as plain JSON values; nothing of it is a fact of the service. `version` is that of cardwright. */
export function sandboxOpenApiDocument(version: string): JsonSchema {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  const failed = Object.entries(FAILURES).map(
    ([status, description]) => [`Failed${status}`, { description, content }] as const,
  );
  const failures: Record<string, JsonSchema> = Object.fromEntries(
    Object.keys(FAILURES).map(status => [status, { $ref: `#/components/responses/Failed${status}` }]),
  );
  const success = ({ returns }: Operation): JsonSchema =>
    returns.contentType === undefined
      ? answered(returns, shape => shapeSchema(shape, 'partial'))
      : { description: 'The file.', content: fileContent(returns.contentType) };
  return {
    ...headOf(version, SANDBOX_TAGS, {
      title: 'Control surface of the cardwright sandbox',
      summary: 'Let time pass, let merchants buy, let things fail; look at books, events and deliveries.',
      description: 'Not part of the service: it has a token of its own and never stands below /v1.',
    }),
    servers: [
      {
        url: `{origin}${ADMIN_PATH}`,
        description: 'Where the sandbox listens.',
        variables: { origin: { default: 'http://localhost', description: 'Scheme, host and port.' } },
      },
    ],
    security: [{ token: [] }],
    paths: pathsOf(SANDBOX_OPERATIONS, {
      tag: (_name, row) => sandboxTag(row),
      more: () => [],
      responses: row => ({ [row.returns.status]: success(row), ...failures }),
    }),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The token of the sandbox.', 'x-secret': true },
      },
      responses: Object.fromEntries(failed),
      schemas: { Error: errorSchema(), PageMeta: shapeSchema(PAGE_META, 'answer') },
    },
  };
}
