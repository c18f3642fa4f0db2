/**
 * More API keys for a sandbox, such as no client should get through with (docs/design/sandbox.md, sections 3 and 4).
 */
import { choice, must, sealed, text, time } from '../field.ts';
import { listOf, one, operation } from '../operation.ts';
import { change, described, ours, reading } from './basis.ts';

export const KEY_ACCESS = ['full', 'read_only', 'revoked'] as const;
export type KeyAccess = (typeof KEY_ACCESS)[number];

const KEY = {
  id: must(text(described('Identifier of the key.'))),
  last4: must(text(described('Its last four characters.'))),
  access: must(choice(KEY_ACCESS, described('What it is good for: everything, reading (403 else), nothing (401).'))),
  created_at: must(time(described('When it was made, on the clock of the sandbox.'))),
} as const;

export const KEY_OPERATIONS = {
  keys: operation({
    ...reading,
    summary: 'List the API keys that were made beside the one the sandbox began with',
    path: '/keys',
    returns: listOf(KEY, ours),
  }),
  'keys.create': operation({
    ...change,
    summary: 'Make an API key; it is shown once',
    path: '/keys',
    body: { access: choice(KEY_ACCESS, { ...described('What it is good for.'), defaults: 'full' }) },
    returns: one({ ...KEY, key: must(sealed(described('The key itself.'))) }, ours, 201),
  }),
} as const;
