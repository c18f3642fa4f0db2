/** Faults on purpose, what was asked of the sandbox, and how it speaks (docs/design/sandbox.md, sections 4 and 5). */

import { choice, flag, integer, list, must, nullable, object, text, time } from '../field.ts';
import { listOf, nothing, one, operation, pageOf } from '../operation.ts';
import { OPERATIONS } from '../operations.ts';
import { change, described, ours, traceless } from './basis.ts';
import { FAULT_BODY, FAULT_PHASES } from './fault-rule.ts';

const FAULT_ID = must(text({ ...described('Rule.'), maxLength: 64 }));

export const FAULT = {
  id: must(text(described('Identifier of the rule.'))),
  active: must(flag(described('It can still happen.'))),
  match: must(object({}, described('Which requests or deliveries.'))),
  phase: nullable(choice(FAULT_PHASES, described('Before the work, or when it is committed; null for deliveries.'))),
  action: must(object({}, described('What happens.'))),
  times: nullable(integer(described('How often it happens at most; null for no end.'))),
  seen: must(integer(described('Matches so far.'))),
  struck: must(integer(described('How often it happened.'))),
  expires_at: nullable(time(described('Nothing happens from then on.'))),
  created_at: must(time(described('When it was added, on the clock of the sandbox.'))),
} as const;

const operationName = choice(Object.keys(OPERATIONS), described('Only requests of this operation.'));
const since = time(described('Only requests since this time, on the clock of the sandbox.'));
const key = text({ ...described('Only requests under this idempotency key.'), maxLength: 255 });
const cardId = text({ ...described('Only requests about this card.'), names: 'card' });
const status = integer({ ...described('Only requests answered with this status.'), min: 100, max: 599 });

export const LOGGED_REQUEST = {
  request_id: must(text(described('Identifier of the request.'))),
  at: must(time(described('When, on the clock of the sandbox.'))),
  operation: must(text(described('Name of the operation.'))),
  method: must(text(described('HTTP method.'))),
  path: must(text(described('Path below the origin, without secrets.'))),
  query: nullable(text(described('Query behind the path, without secrets; null where there was none.'))),
  status: must(integer(described('Status of the answer, as it was meant.'))),
  error: nullable(text(described('Identifier of the error.'))),
  replayed: must(flag(described('The stored answer of an earlier request under the same key.'))),
  fault: nullable(text(described('The fault it met: phase and kind.'))),
  idempotency_key: nullable(
    text(described('Idempotency key it came with; one that may hold a card number is masked, with a mark of its own.')),
  ),
  card_id: nullable(text({ ...described('Card it is about.'), names: 'card' })),
  body: nullable(object({}, described('What was sent: known fields, without secrets.'))),
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
  dialect: must(choice(DIALECT_NAMES, described('Name of the dialect this server speaks.'))),
  changes: must(text(described('What is other than usual.'))),
  honours_keys: must(flag(described('Idempotency keys are honoured.'))),
} as const;

const DIALECT_SHOWN = {
  ...DIALECT,
  stated_for: list(
    text(described('HMAC-SHA256 of nonce and honours_keys under the SHA-256 of one API key, lowercase hex.')),
    described('The same said for each API key of this sandbox, where a nonce was given.'),
  ),
} as const;

export const FAULT_OPERATIONS = {
  faults: operation({
    ...traceless,
    summary: 'List fault rules in the order they are asked',
    path: '/faults',
    returns: listOf(FAULT, ours),
  }),
  'faults.get': operation({
    ...traceless,
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
    returns: one({ removed: must(integer(described('How many there were.'))) }, ours),
  }),
  requests: operation({
    ...traceless,
    summary: 'List requests to the service, newest first; secrets are left out',
    path: '/requests',
    query: {
      operation: operationName,
      since,
      idempotency_key: key,
      card_id: cardId,
      status,
      page: integer({ ...described('Page, from 1.'), min: 1, defaults: 1 }),
      per_page: integer({ ...described('Rows a page.'), min: 1, max: 1000, defaults: 100 }),
    },
    returns: pageOf(LOGGED_REQUEST, ours),
  }),
  'requests.verify': operation({
    ...traceless,
    summary: 'Count requests to the service and compare',
    method: 'POST',
    path: '/requests/verify',
    body: {
      match: object(
        { operation: operationName, since, idempotency_key: key, card_id: cardId, status },
        described('Which.'),
      ),
      times: must(integer({ ...described('How many there must be.'), min: 0 })),
    },
    returns: one(
      {
        ok: must(flag(described('There are as many.'))),
        count: must(integer(described('How many there are.'))),
        expected: must(integer(described('How many there must be.'))),
        request_ids: must(list(text(described('One of them.')), described('The newest of them, 20 at most.'))),
      },
      ours,
    ),
  }),
  'dialect.show': operation({
    ...traceless,
    summary: 'Show the dialect this server speaks',
    path: '/dialect',
    query: {
      nonce: text({ ...described('Random text of the asker, so that what is stated is new.'), maxLength: 128 }),
    },
    returns: one(DIALECT_SHOWN, ours),
  }),
  'dialect.set': operation({
    ...change,
    summary: 'Have this server speak another dialect until it ends',
    method: 'PUT',
    path: '/dialect',
    body: { dialect: must(choice(DIALECT_NAMES, described('Name of the dialect.'))) },
    returns: one(DIALECT, ours),
  }),
} as const;
