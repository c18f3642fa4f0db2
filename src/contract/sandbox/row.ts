/** Rows of the control surface rest on nothing but our own choice: what all of a kind have in common stands here. */
import type { Shape } from '../field.ts';
import * as row from '../operation.ts';
import { integer } from '../own-field.ts';

type Flatten<T> = { [K in keyof T]: T[K] };
type Needed = Pick<row.Operation, 'summary' | 'path' | 'returns'>;

/** Makes rows that have this in common, where they do not say otherwise. */
export function rowsWith<const Common extends Partial<row.Operation>>(common: Common) {
  return <const Row extends Partial<row.Operation> & Omit<Needed, keyof Common>>(own: Row) =>
    ({ section: 'sandbox', basis: {}, ...common, ...own }) as Flatten<
      Omit<{ readonly section: 'sandbox'; readonly basis: row.Operation['basis'] } & Common, keyof Row> & Row
    >;
}

/** A look at something of the sandbox. */
export const reading = rowsWith({ method: 'GET', effect: 'read', repeat: 'freely' });

/** A reading without any trace: see `leavesNoTrace` of a row. */
export const look = rowsWith({ method: 'GET', effect: 'read', repeat: 'freely', leavesNoTrace: true });

/** A change of the sandbox, whose money is nobody's: no guard beyond being a sandbox is needed. */
export const change = rowsWith({ method: 'POST', effect: 'reversible', repeat: 'never' });

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
