/**
 * Requests in the caller's own words, for `api`: rows like any other, so that guard, journal, retries and redaction
 * treat them like any other. A write that is no operation of the interface is never repeated by itself and counts as
 * moving money (docs/design/reliability.md, section 3). None of it belongs to the interface, so these rows stand apart
 * from it.
 */
import { must } from './field.ts';
import { type Operation, pageOf, rowsWith, untouched } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { integer, text } from './own-field.ts';

const PATH = must(text('Path and query below the base address.'));
const METHOD = must(text('HTTP method.'));

const reading = rowsWith({ raw: true, section: '4', basis: {}, effect: 'read', repeat: 'freely' });
const writing = rowsWith({ raw: true, section: '4', basis: {}, effect: 'moves-money', repeat: 'never' });

export const RAW_OPERATIONS = {
  'api.read': reading('Read any path', 'GET /', { params: { method: METHOD, path: PATH }, returns: untouched({}) }),
  'api.pages': reading('Read any list page by page', 'GET /', {
    params: { path: PATH },
    query: { page: integer('Page.') },
    returns: pageOf({}, {}),
  }),
  'api.write': writing('Send any change', 'POST /', {
    params: { method: METHOD, path: PATH },
    body: { body: text('JSON text.') },
    returns: untouched({}),
  }),
} as const;

/** Every call the client can make: the operations of the interface, and requests in the caller's own words. */
export const CALLS = { ...OPERATIONS, ...RAW_OPERATIONS } as const;

/** Create, fund, withdraw, and terminate, which moves the balance back: what a journal keeps, and what takes an intent. */
export function isJournaled(operation: string): boolean {
  const row = Object.hasOwn(CALLS, operation) ? (CALLS as Readonly<Record<string, Operation>>)[operation] : undefined;
  return row?.effect === 'moves-money' || (row?.effect === 'irreversible' && row.leadsTo !== undefined);
}
