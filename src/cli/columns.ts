/** Columns of tables and TSV, their kinds taken from the contract. */
import type { AnyField, FieldKind, Shape } from '../contract/field.ts';
import type { Column } from '../terminal/view.ts';

interface ColumnWish {
  readonly title?: string;
  /** 1 is never dropped; the larger the sooner it goes on a narrow screen. */
  readonly priority?: number;
  readonly wideOnly?: true;
  readonly shrink?: true | 'wraps';
  readonly kind?: Column['kind'];
  readonly shortTo?: number;
}

/** Characters of a random id that are shown at least: so few tell a million apart only here and there. */
export const SHORT_ID = 6;

const KINDS: Readonly<Record<FieldKind, Column['kind']>> = {
  text: 'text',
  sealed: 'text',
  money: 'money',
  integer: 'integer',
  number: 'number',
  flag: 'boolean',
  choice: 'word',
  time: 'time',
  list: 'list',
  map: 'map',
  object: 'map',
};

/** Columns in the order of `wishes`; each key is a field of `shape`. */
export function columnsOf<S extends Shape>(
  shape: S,
  options: { readonly [K in keyof S]?: ColumnWish },
): readonly Column[] {
  return Object.entries(options).map(([field, wish]) => {
    const { title, priority = 5, ...rest } = wish as ColumnWish;
    const row = shape[field] as AnyField;
    const kind = field === 'id' || row.names === 'card' ? 'id' : KINDS[row.kind];
    const short = row.names === 'card' ? { shortTo: SHORT_ID } : {};
    return { field, kind, priority, title: title ?? field.replaceAll('_', ' ').toUpperCase(), ...short, ...rest };
  });
}
