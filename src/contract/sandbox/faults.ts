/**
 * Faults of the sandbox (docs/design/sandbox.md, section 5): a rule as JSON, the check that names the member that is wrong, and
 * the operations. The command checks a file with it before anything is sent, the sandbox again what arrives.
 */
import { DAY } from '../../core/durations.ts';
import { isObject, type Values } from '../../core/objects.ts';
import { EVENTS } from '../events.ts';
import { type InputFields, must, nullable, type Shape } from '../field.ts';
import { METHODS, type TogetherCheck } from '../operation.ts';
import { OPERATIONS } from '../operations.ts';
import { choice, flag, integer, number, object, text, time } from '../own-field.ts';
import { type Problem, shapeProblem, wordOf } from '../violation.ts';
import { change, listOf, look, nothing, one, pageOf, paging } from './row.ts';

const FAULT_PHASES = ['before', 'after_commit'] as const;
export type FaultPhase = (typeof FAULT_PHASES)[number];

const MOST_MS = 600_000;
const ms = (doc: string) => must(integer(doc, { min: 0, max: MOST_MS }));
const status = integer('HTTP status; its own when left out.', { min: 200, max: 599 });

/** Members of `action` beside `kind`, by kind. */
const REQUEST_ACTIONS = {
  status: {
    code: must(integer('HTTP status of the answer.', { min: 200, max: 599 })),
    error: text('Its identifier; the usual one of the status when left out.', { maxLength: 64 }),
    retry_after: text('The header Retry-After: seconds or an HTTP date.', { maxLength: 64 }),
  },
  latency: {
    fixed: integer('Milliseconds to wait.', { min: 0, max: MOST_MS }),
    uniform: object({ min: ms('Shortest wait, ms.'), max: ms('Longest wait, ms.') }, 'Evenly between two.'),
    lognormal: object(
      {
        median: ms('Half of the waits are shorter, ms.'),
        sigma: must(number('Spread of the logarithm.', { min: 0, max: 10 })),
      },
      'As real services are slow.',
    ),
  },
  reset: {},
  empty: { status },
  truncate: { bytes: must(integer('Bytes of the body that still come.', { min: 0, max: 1_000_000 })) },
  malformed: { status },
  html: { status: { ...status, doc: 'HTTP status; 502 when left out.' } },
  drip: { bytes_per_s: must(integer('Bytes of the body a second.', { min: 1, max: 1_000_000 })) },
  hang: { max_ms: ms('The connection is closed after so many ms.') },
} as const satisfies Readonly<Record<string, Shape>>;

const DELIVERY_ACTIONS = {
  duplicate_delivery: {},
  reorder_deliveries: { window: must(integer('How many later ones may go first.', { min: 1, max: 100 })) },
  delay_delivery: { ms: must(integer('By how many ms of the clock.', { min: 1, max: 30 * DAY })) },
} as const satisfies Readonly<Record<string, Shape>>;

const ACTIONS: Readonly<Record<string, Shape>> = { ...REQUEST_ACTIONS, ...DELIVERY_ACTIONS };

export const FAULT_KINDS = [...Object.keys(REQUEST_ACTIONS), ...Object.keys(DELIVERY_ACTIONS)] as const;

/** Every kind with its members, in brackets what may be left out: `status code [error] [retry_after]`. */
export const FAULT_ACTIONS: readonly string[] = FAULT_KINDS.map(kind =>
  [kind, ...Object.entries(ACTIONS[kind] ?? {}).map(([name, field]) => memberWord(name, field))].join(' '),
);

function memberWord(name: string, { must: needed, shape }: Shape[string]): string {
  const word = shape === undefined ? name : `${name} {${Object.keys(shape).join(', ')}}`;
  return needed ? word : `[${word}]`;
}

/** A whole rule, as help shows it. */
export const FAULT_EXAMPLE = {
  match: { operation: 'cards.create' },
  phase: 'after_commit',
  action: { kind: 'reset' },
  times: 1,
} as const satisfies FaultRule;

/** The smallest action of a kind that is one, for users who do not know its members: `{"kind":"truncate","bytes":0}`. */
export function smallestAction(kind: string) {
  const members = Object.entries(ACTIONS[kind] ?? {});
  const needed = members.filter(([, field]) => field.must);
  // Of those of which there must be one, the first is a number.
  const given = kind === 'latency' ? members.slice(0, 1) : needed;
  return { kind, ...Object.fromEntries(given.map(([name, { kind, min }]) => [name, kind === 'text' ? 'text' : min])) };
}

/** Whether a kind meets deliveries to subscriptions, not requests. */
export function isDeliveryKind(kind: string): boolean {
  return Object.hasOwn(DELIVERY_ACTIONS, kind);
}

const COUNTED = {
  nth: integer('Nothing happens before this match, counted from 1.', { min: 1 }),
  probability: number('Share of the matches it happens to; the seed decides which.', { min: 0, max: 1 }),
} as const;

const REQUEST_MATCH = {
  operation: choice(Object.keys(OPERATIONS), 'Name of the operation.'),
  method: choice(METHODS, 'HTTP method.'),
  path: text('Path below /v1; {anything} stands for one part.', {
    maxLength: 256,
    form: { holds: path => /^\/[^\s?#]*$/.test(path), says: 'must begin with / and hold no query' },
  }),
  card_id: text('Card in path, query or body.', { maxLength: 128, names: 'card' }),
  key_last4: text('Last four characters of the API key.', { maxLength: 4 }),
  key_prefix: text('Beginning of the idempotency key.', { maxLength: 255 }),
  ...COUNTED,
} as const;

const DELIVERY_MATCH = {
  event: choice(Object.keys(EVENTS), 'Name of the event.'),
  webhook_id: text('Subscription.', { maxLength: 128, names: 'webhook' }),
  ...COUNTED,
} as const;

/** Members of `match` for rules about requests and about deliveries, and of `action` by kind. */
export const FAULT_SHAPES = { requests: REQUEST_MATCH, deliveries: DELIVERY_MATCH, actions: ACTIONS } as const;

/** What a rule is sent as; the members of `match` and `action` are checked by `faultProblem`. */
export const FAULT_BODY = {
  match: object({}, 'Which requests or deliveries; all when left out.'),
  phase: choice(FAULT_PHASES, 'Before the work, or when it is committed.', { defaults: 'before' }),
  action: must(object({}, `What happens: {"kind": …} and its members. Kinds: ${FAULT_KINDS.join(', ')}.`)),
  times: integer('How often it happens; until it is removed when left out.', { min: 1 }),
  expires_at: time('Nothing happens from then on, by the clock of the sandbox.'),
} as const;

export type FaultMatch = InputFields<typeof REQUEST_MATCH & typeof DELIVERY_MATCH>;

type ActionOf<Kinds extends Readonly<Record<string, Shape>>> = {
  [Kind in keyof Kinds]: { readonly kind: Kind } & InputFields<Kinds[Kind]>;
}[keyof Kinds];
export type RequestAction = ActionOf<typeof REQUEST_ACTIONS>;
export type DeliveryAction = ActionOf<typeof DELIVERY_ACTIONS>;

export interface FaultRule extends Omit<InputFields<typeof FAULT_BODY>, 'match' | 'action'> {
  readonly match?: FaultMatch;
  readonly action: RequestAction | DeliveryAction;
}

/** A fault for one request: the header `X-Sandbox-Fault`. */
export interface OneFault {
  readonly phase?: FaultPhase;
  readonly action: RequestAction;
}

/** What is wrong with a rule; undefined when it is a `FaultRule`. */
export function faultProblem(rule: unknown): Problem | undefined {
  if (!isObject(rule)) return { field: 'the rule', text: 'must be a JSON object' };
  const { match = {}, action } = rule;
  const problem = actionProblem(action) ?? shapeProblem(FAULT_BODY, rule);
  if (problem !== undefined) return problem;
  const isDelivery = isDeliveryKind(String((action as Values)['kind']));
  if (isDelivery && rule['phase'] !== undefined) return { field: 'phase', text: 'does not apply to deliveries' };
  return partProblem('match', isDelivery ? DELIVERY_MATCH : REQUEST_MATCH, match as Values);
}

/** What is wrong with a fault in the header of one request. */
export function oneFaultProblem(fault: unknown): Problem | undefined {
  if (!isObject(fault)) return { field: 'the fault', text: 'must be a JSON object' };
  const { phase, action } = FAULT_BODY;
  const problem = actionProblem(fault['action']) ?? shapeProblem({ phase, action }, fault);
  if (problem !== undefined) return problem;
  const kind = String((fault['action'] as Values)['kind']);
  return isDeliveryKind(kind) ? { field: 'action.kind', text: `${kind} needs a rule: it is no request` } : undefined;
}

/** What is wrong with an action, with the kinds there are. */
function actionProblem(action: unknown): Problem | undefined {
  const kinds = FAULT_KINDS.join(', ');
  if (!isObject(action)) {
    const text = `${action === undefined ? 'is missing: ' : 'must be '}an object {"kind": …} with one of ${kinds}`;
    return { field: 'action', text, ...wordOf(FAULT_KINDS, action) };
  }
  const { kind, ...members } = action;
  const shape = typeof kind === 'string' && Object.hasOwn(ACTIONS, kind) ? ACTIONS[kind] : undefined;
  if (shape === undefined) {
    return { field: 'action.kind', text: `must be one of ${kinds}`, ...wordOf(FAULT_KINDS, kind) };
  }
  const { retry_after: wait, ...others } = members;
  const isSeconds = kind === 'status' && Number.isSafeInteger(wait) && Number(wait) >= 0;
  const problem = partProblem('action', shape, isSeconds ? others : members);
  if (problem !== undefined || kind !== 'latency') return problem;
  const given = ['fixed', 'uniform', 'lognormal'].filter(name => members[name] !== undefined);
  if (given.length !== 1) return { field: 'action', text: 'must have one of fixed, uniform and lognormal' };
  const { uniform } = members as { uniform?: { min: number; max: number } };
  const isUpsideDown = uniform !== undefined && uniform.min > uniform.max;
  return isUpsideDown ? { field: 'action.uniform', text: 'has a min above its max' } : undefined;
}

/** What is wrong in a part; names the member by its path. */
function partProblem(at: string, shape: Shape, values: Values): Problem | undefined {
  const problem = shapeProblem(shape, values);
  return problem && { ...problem, field: `${at}.${problem.field}` };
}

const ruleProblem: TogetherCheck = ({ given, values }) => {
  // What an earlier step names is not known yet: such a part is left out, and an action cannot be.
  if (given.has('action') && values['action'] === undefined) return undefined;
  const problem = faultProblem(values);
  return problem && { field: problem.field.split('.')[0], text: `${problem.field} ${problem.text}` };
};

// Operations: faults, the log of requests, dialects (docs/design/sandbox.md, sections 4 and 5).

export const FAULT = {
  id: must(text('Identifier of the rule.')),
  active: must(flag('It can still happen.')),
  match: must(object({}, 'Which requests or deliveries.')),
  phase: nullable(choice(FAULT_PHASES, 'Before the work, or when it is committed; null for deliveries.')),
  action: must(object({}, 'What happens.')),
  times: nullable(integer('How often it happens at most; null for no end.')),
  seen: must(integer('Matches so far.')),
  struck: must(integer('How often it happened.')),
  expires_at: nullable(time('Nothing happens from then on.')),
  created_at: must(time('When it was added, on the clock of the sandbox.')),
} as const;

export const LOGGED_REQUEST = {
  request_id: must(text('Identifier of the request.')),
  at: must(time('When, on the clock of the sandbox.')),
  operation: must(text('Name of the operation.')),
  method: must(text('HTTP method.')),
  path: must(text('Path below the origin, without secrets.')),
  query: nullable(text('Query behind the path, without secrets; null where there was none.')),
  status: must(integer('Status of the answer, as it was meant.')),
  error: nullable(text('Identifier of the error.')),
  replayed: must(flag('The stored answer of an earlier request under the same key.')),
  fault: nullable(text('The fault it met: phase and kind.')),
  idempotency_key: nullable(
    text('Idempotency key it came with; one that may hold a card number is masked, with a mark of its own.'),
  ),
  card_id: nullable(text('Card it is about.', { names: 'card' })),
  body: nullable(object({}, 'What was sent: known fields, without secrets.')),
} as const;

export const DIALECT_NAMES = [
  'default',
  'minimal',
  'envelope-items',
  'envelope-more',
  'envelope-wrapped',
  'names-stripe',
  'names-increase',
  'strict-422',
  'noop-200',
  'tds-terminal',
  'auth-single',
  'ledger-balance',
  'strict-freeze',
  'sig-prefixed',
  'keys-ignored',
  'paths-other',
] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

const DIALECT = {
  dialect: must(choice(DIALECT_NAMES, 'Name of the dialect this server speaks.')),
  changes: must(text('What is other than usual.')),
  honours_keys: must(flag('Idempotency keys are honoured.')),
} as const;

export const FAULT_OPERATIONS = {
  faults: look('List fault rules in the order they are asked', 'GET /faults', { returns: listOf(FAULT) }),
  'faults.add': change('Add a fault rule', 'POST /faults', {
    body: FAULT_BODY,
    together: ruleProblem,
    returns: one(FAULT, 201),
  }),
  'faults.remove': change('Remove a fault rule', 'DELETE /faults/{fault_id}', {
    params: { fault_id: must(text('Rule.', { maxLength: 64 })) },
    returns: nothing(),
  }),
  'faults.clear': change('Remove all fault rules', 'DELETE /faults', {
    returns: one({ removed: must(integer('How many there were.')) }),
  }),
  requests: look('List requests to the service, newest first; secrets are left out', 'GET /requests', {
    query: {
      operation: choice(Object.keys(OPERATIONS), 'Only requests of this operation.'),
      since: time('Only requests since this time, on the clock of the sandbox.'),
      idempotency_key: text('Only requests under this idempotency key.', { maxLength: 255 }),
      card_id: text('Only requests about this card.', { names: 'card' }),
      status: integer('Only requests answered with this status.', { min: 100, max: 599 }),
      ...paging(100),
    },
    returns: pageOf(LOGGED_REQUEST),
  }),
  'dialect.show': look('Show the dialect this server speaks', 'GET /dialect', { returns: one(DIALECT) }),
  'dialect.set': change('Have this server speak another dialect until it ends', 'PUT /dialect', {
    body: { dialect: must(choice(DIALECT_NAMES, 'Name of the dialect.')) },
    returns: one(DIALECT),
  }),
} as const;
