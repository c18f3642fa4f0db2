import { hang, wrap } from '../../cli/docs/wrap.ts';
import { wholeListing } from '../../cli/listing.ts';
import type { Shown } from '../../cli/shown.ts';

interface Topic {
  readonly noun: string;
  /** Fields of a row, the first of them its id. */
  readonly fields: readonly string[];
  readonly rows: readonly object[];
  /** Paragraphs around the list. */
  readonly before?: readonly string[];
  readonly list: readonly (readonly [term: string, means: string])[];
  readonly after?: readonly string[];
}

/** A topic of `help`: a page of 80 columns to read, rows for a named format. */
export function showTopic({ noun, fields, rows, before = [], list, after = [] }: Topic): Shown {
  const width = Math.max(...list.map(([term]) => term.length)) + 2;
  const items = list.map(([term, means]) => hang(term.padEnd(width), means)).join('');
  return {
    noun,
    idField: fields[0] ?? 'name',
    columns: fields.map(field => ({ field, title: field.toUpperCase(), kind: 'text', priority: 1 })),
    listing: wholeListing({ data: rows, page: { total: rows.length } }, { noun }),
    prose: [...before.map(wrap), items, ...after.map(wrap)].join('\n'),
  };
}
