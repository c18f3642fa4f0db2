/** What all rows of the sandbox's control surface rest on: nothing but our own choice. */
import type { Basis } from '../basis.ts';
import { integer } from '../field.ts';

export const ours: Basis = { why: 'control of the sandbox, not part of the service' };

/** Base path of the control surface. */
export const ADMIN_PATH = '/_sandbox/v1';

/** Header with the half of a session that the page keeps; the other half is a cookie. */
export const PAGE_HALF_HEADER = 'X-Sandbox-Page';

/** On every answer of the sandbox, so that nobody takes it for the service. */
export const SANDBOX_MARK = 'X-Sandbox';

/** How every deposit address of the sandbox begins, so that nobody takes it for a real one, nor draws a code of it. */
export const SANDBOX_ADDRESS = 'sandbox-do-not-send-';

/** Facts every field must have. */
export const described = (doc: string) => ({ doc, basis: ours });

/** Which page of a list, with so many rows where nothing else is asked for. */
export const paging = (rows: number, most = 1000) => ({
  page: integer({ ...described('Page, from 1.'), min: 1, defaults: 1 }),
  per_page: integer({ ...described('Rows a page.'), min: 1, max: most, defaults: rows }),
});

/** A simulation changes the sandbox's own money only: no guard beyond being a sandbox is needed. */
export const change = {
  section: 'sandbox',
  method: 'POST',
  basis: ours,
  effect: 'reversible',
  repeat: 'never',
} as const;

/** What goes through everything a store holds: a million records take a while. */
export const THOROUGH = { patienceMs: 900_000 } as const;

/** A look at something of the sandbox. */
export const reading = { section: 'sandbox', method: 'GET', basis: ours, effect: 'read', repeat: 'freely' } as const;

/** A reading without any trace: see `leavesNoTrace` of a row. */
export const traceless = { ...reading, leavesNoTrace: true } as const;
