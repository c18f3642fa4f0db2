/** Rows of the control surface rest on nothing but our own choice: what all of a kind have in common stands here. */
import { must, type Shape } from '../field.ts';
import * as row from '../operation.ts';
import { integer, text, time } from '../own-field.ts';

const OURS = { section: 'sandbox', basis: {} } as const;

/** A look at something of the sandbox. */
export const reading = row.rowsWith({ ...OURS, effect: 'read', repeat: 'freely' });

/** A reading without any trace: see `leavesNoTrace` of a row. */
export const look = row.rowsWith({ ...OURS, effect: 'read', repeat: 'freely', leavesNoTrace: true });

/** A change of the sandbox, whose money is nobody's: no guard beyond being a sandbox is needed. */
export const change = row.rowsWith({ ...OURS, effect: 'reversible', repeat: 'never' });

/** What goes through everything a store holds: a million records take a while. */
export const THOROUGH = { patienceMs: 900_000 } as const;

export const one = <const S extends Shape>(shape: S, status?: number) => row.one(shape, {}, status);
export const listOf = <const S extends Shape>(shape: S) => row.listOf(shape, {});
export const pageOf = <const S extends Shape>(shape: S) => row.pageOf(shape, {});
export const nothing = () => row.nothing({});

/** Which page of a list, with so many rows where nothing else is asked for. */
export const paging = (rows: number, most = 1000) => ({
  page: integer('Page, from 1.', { min: 1, defaults: 1 }),
  per_page: integer('Rows a page.', { min: 1, max: most, defaults: rows }),
});

/** Of which time the rows of a list are; both ends count. */
export const BETWEEN = {
  since: time('Only those since this time, on the clock of the sandbox.'),
  until: time('Only those up to this time, on the clock of the sandbox.'),
} as const;

/** What happens by itself, such as a hold that expires or a delivery. */
export const TIMED = {
  due_at: must(time('When it is due, on the clock of the sandbox.')),
  kind: must(text('What happens.')),
  ref: must(text('What it happens to.')),
} as const;
