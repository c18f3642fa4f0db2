/** Finds the object or the rows in whatever an answer is wrapped in (A-20, A-21; reading rule 5). */

import { ENVELOPES } from '../contract/envelopes.ts';
import type { PageFacts } from '../contract/operation.ts';
import { PAGE_META } from '../contract/resources.ts';
import { isObject } from '../core/objects.ts';
import { type ReadObject, readObject, valueAt } from './decode.ts';
import { headerText } from './headers.ts';
import type { WireHeaders } from './transport.ts';

type Source = Readonly<Record<string, unknown>>;

/**
 * Reads a single object bare, or wrapped in `data` or a resource name, up to two wrappers deep. The first reading
 * without a problem wins; else the one with the fewest, so that the error names what is really missing.
 */
export function readSingle(value: unknown, read: (source: Source, at: string) => ReadObject): ReadObject {
  if (!isObject(value)) {
    return { value: {}, problems: [{ path: 'the answer', text: 'is not an object' }], warnings: [] };
  }
  // Mostly it is bare, and nobody need look for wrappers.
  let best = read(value, '');
  if (best.problems.length === 0) return best;
  for (const { source, at } of wrapped(value, '', 2).slice(1)) {
    const reading = read(source, at);
    if (reading.problems.length === 0) return reading;
    if (reading.problems.length < best.problems.length) best = reading;
  }
  return best;
}

function wrapped(source: Source, at: string, levels: number): { source: Source; at: string }[] {
  const inner = ENVELOPES.single.also.flatMap(name => {
    const value = Object.hasOwn(source, name) ? source[name] : undefined;
    return levels > 0 && isObject(value) ? wrapped(value, at === '' ? name : `${at}.${name}`, levels - 1) : [];
  });
  return [{ source, at }, ...inner];
}

export interface FoundRows {
  readonly rows: readonly unknown[];
  /** Where the rows are: `data`, or empty for a bare array. */
  readonly at: string;
  readonly page: PageFacts;
  /** The service named a further page in a way the `page` parameter does not speak of, or said there is none. */
  readonly next?: boolean;
}

/** Rows and paging of a list answer; undefined when no variant yields an array. */
export function findRows(value: unknown, headers: WireHeaders): FoundRows | undefined {
  const list = findList(value);
  return list && { rows: list.rows, at: list.at, ...paging(list.around, headers) };
}

/** The rows, where they are, and what stands around them. */
interface FoundList extends Pick<FoundRows, 'rows' | 'at'> {
  readonly around: Source;
}

export function findList(value: unknown): FoundList | undefined {
  if (Array.isArray(value)) return { rows: value, at: '', around: {} };
  if (!isObject(value)) return undefined;
  const { name, also } = ENVELOPES.array;
  const named = [name, ...also].find(key => Object.hasOwn(value, key) && Array.isArray(value[key]));
  const arrays = named === undefined ? Object.keys(value).filter(key => Array.isArray(value[key])) : [];
  const at = named ?? (arrays.length === 1 ? arrays[0] : undefined);
  if (at !== undefined) return { rows: value[at] as unknown[], at, around: value };
  const inner = Object.hasOwn(value, name) ? findList(value[name]) : undefined;
  return inner && { ...inner, at: inner.at === '' ? name : `${name}.${inner.at}` };
}

function paging(value: Source, headers: WireHeaders): Pick<FoundRows, 'page' | 'next'> {
  const { container, also, hasMore, nextPage, nextCursor, totalHeader } = ENVELOPES.paging;
  const box = [container, ...also].map(key => valueAt(value, key)).find(isObject) ?? value;
  // A paging object that cannot be read is no reason to lose the rows: the loop has other ways to stop.
  const { value: read } = readObject(box, { shape: PAGE_META, at: '', nameOf: () => undefined });
  const total = read['total'] ?? Number(headerText(headers, totalHeader) ?? Number.NaN);
  const more = hasMore.map(key => valueAt(box, key)).find(flag => typeof flag === 'boolean');
  const next = more ?? saysNext(box, [...nextPage, ...nextCursor]) ?? linkNext(headers);
  const known = { ...pick(read), ...(Number.isSafeInteger(total) && { total: total as number }) };
  return {
    page: { ...known, ...(more !== undefined && { has_more: more }) },
    ...(next !== undefined && { next }),
  };
}

function pick(read: Source): PageFacts {
  const names = ['page', 'per_page', 'total', 'total_pages'].filter(name => typeof read[name] === 'number');
  return Object.fromEntries(names.map(name => [name, read[name]]));
}

/** `next_page: null` says that this was the last one; an absent member says nothing. */
function saysNext(box: Source, names: readonly string[]): boolean | undefined {
  const there = names.filter(name => Object.hasOwn(box, name));
  return there.length === 0 ? undefined : there.some(name => box[name] !== null && box[name] !== '');
}

function linkNext(headers: WireHeaders): boolean | undefined {
  const link = headerText(headers, 'link');
  return link === undefined ? undefined : /rel="?next"?/i.test(link);
}
