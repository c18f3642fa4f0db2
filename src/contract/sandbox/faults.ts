/** Faults on purpose, what was asked of the sandbox, and how it speaks (docs/design/sandbox.md, sections 4 and 5). */

import { choice, flag, integer, list, must, nullable, object, text, time } from '../field.ts';
import { listOf, nothing, one, operation, pageOf } from '../operation.ts';
import { OPERATIONS } from '../operations.ts';
import { change, look, ours, said } from './basis.ts';
import { FAULT_BODY, FAULT_PHASES } from './fault-rule.ts';

const FAULT_ID = must(text({ ...said('Rule.'), maxLength: 64 }));

export const FAULT = {
  id: must(text(said('Identifier of the rule.'))),
  active: must(flag(said('It can still happen.'))),
  match: must(object({}, said('Which requests or deliveries.'))),
  phase: nullable(choice(FAULT_PHASES, said('Before the work, or when it is committed; null for deliveries.'))),
  action: must(object({}, said('What happens.'))),
  times: nullable(integer(said('How often it happens at most; null for no end.'))),
  seen: must(integer(said('Matches so far.'))),
  struck: must(integer(said('How often it happened.'))),
  expires_at: nullable(time(said('Nothing happens from then on.'))),
  created_at: must(time(said('When it was added, on the clock of the sandbox.'))),
} as const;

const operationName = choice(Object.keys(OPERATIONS), said('Only requests of this operation.'));
const since = time(said('Only requests since this time, on the clock of the sandbox.'));
const key = text({ ...said('Only requests under this idempotency key.'), maxLength: 255 });
const cardId = text({ ...said('Only requests about this card.'), names: 'card' });
const status = integer({ ...said('Only requests answered with this status.'), min: 100, max: 599 });

export const LOGGED_REQUEST = {
  request_id: must(text(said('Identifier of the request.'))),
  at: must(time(said('When, on the clock of the sandbox.'))),
  operation: must(text(said('Name of the operation.'))),
  method: must(text(said('HTTP method.'))),
  path: must(text(said('Path below the origin, without secrets.'))),
  status: must(integer(said('Status of the answer, as it was meant.'))),
  error: nullable(text(said('Identifier of the error.'))),
  replayed: must(flag(said('The stored answer of an earlier request under the same key.'))),
  fault: nullable(text(said('The fault it met: phase and kind.'))),
  idempotency_key: nullable(text(said('Idempotency key it came with.'))),
  card_id: nullable(text({ ...said('Card it is about.'), names: 'card' })),
  body: nullable(object({}, said('What was sent: known fields, without secrets.'))),
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
  dialect: must(choice(DIALECT_NAMES, said('Name of the dialect this server speaks.'))),
  changes: must(text(said('What is other than usual.'))),
  honours_keys: must(flag(said('Idempotency keys are honoured.'))),
} as const;

export const FAULT_OPERATIONS = {
  faults: operation({
    ...look,
    summary: 'List fault rules in the order they are asked',
    path: '/faults',
    returns: listOf(FAULT, ours),
  }),
  'faults.get': operation({
    ...look,
    summary: 'Show a fault rule',
    path: '/faults/{fault_id}',
    params: { fault_id: FAULT_ID },
    returns: one(FAULT, ours),
  }),
  'faults.add': operation({
    ...change,
    summary: 'Add a fault rule',
    path: '/faults',
    body: FAULT_BODY,
    returns: one(FAULT, ours, 201),
  }),
  'faults.remove': operation({
    ...change,
    summary: 'Remove a fault rule',
    method: 'DELETE',
    path: '/faults/{fault_id}',
    params: { fault_id: FAULT_ID },
    returns: nothing(ours),
  }),
  'faults.clear': operation({
    ...change,
    summary: 'Remove all fault rules',
    method: 'DELETE',
    path: '/faults',
    returns: one({ removed: must(integer(said('How many there were.'))) }, ours),
  }),
  requests: operation({
    ...look,
    summary: 'List requests to the service, newest first; secrets are left out',
    path: '/requests',
    query: {
      operation: operationName,
      since,
      idempotency_key: key,
      card_id: cardId,
      status,
      page: integer({ ...said('Page, from 1.'), min: 1, defaults: 1 }),
      per_page: integer({ ...said('Rows a page.'), min: 1, max: 1000, defaults: 100 }),
    },
    returns: pageOf(LOGGED_REQUEST, ours),
  }),
  'requests.verify': operation({
    ...look,
    summary: 'Count requests to the service and compare',
    method: 'POST',
    path: '/requests/verify',
    body: {
      match: object({ operation: operationName, since, idempotency_key: key, card_id: cardId, status }, said('Which.')),
      times: must(integer({ ...said('How many there must be.'), min: 0 })),
    },
    returns: one(
      {
        ok: must(flag(said('There are as many.'))),
        count: must(integer(said('How many there are.'))),
        expected: must(integer(said('How many there must be.'))),
        request_ids: must(list(text(said('One of them.')), said('The newest of them, 20 at most.'))),
      },
      ours,
    ),
  }),
  'dialect.show': operation({
    ...look,
    summary: 'Show the dialect this server speaks',
    path: '/dialect',
    returns: one(DIALECT, ours),
  }),
  'dialect.set': operation({
    ...change,
    summary: 'Have this server speak another dialect until it ends',
    method: 'PUT',
    path: '/dialect',
    body: { dialect: must(choice(DIALECT_NAMES, said('Name of the dialect.'))) },
    returns: one(DIALECT, ours),
  }),
} as const;
