/** Dialects that wrap answers another way; what the interface states itself stays as it is. */
import { isObject } from '../../core/objects.ts';
import type { Dialect, Fields, Spoken } from './dialect.ts';
import { withBody } from './dialect.ts';

/** `{"data": […]}` is stated for these (interface 4). */
const STATED: readonly string[] = ['bins.list', 'challenges.list'];
/** Their answer is not shown, so nothing at all may come. */
const SILENT: readonly string[] = ['cards.freeze', 'cards.terminate', 'cards.withdraw'];

interface WireList {
  readonly data: readonly unknown[];
  readonly meta?: { readonly page: number; readonly total: number; readonly total_pages: number };
}

/** The list of an answer whose envelope is not stated; undefined for everything else. */
function freeList({ operation, row, answer, body }: Spoken): WireList | undefined {
  const isList = row.returns.kind === 'list' || row.returns.kind === 'page';
  return isList && answer.status < 300 && !STATED.includes(operation) ? (body as WireList) : undefined;
}

const isOne = ({ row, answer, body }: Spoken): boolean =>
  row.returns.kind === 'one' && answer.status < 300 && isObject(body);

export const MINIMAL: Dialect = {
  changes: 'no optional header, no paging object, no secret in answers, 204 on actions whose answer is not shown',
  bareHeaders: true,
  speak(spoken) {
    const { answer, operation, body } = spoken;
    if (answer.status >= 300) return answer;
    if (SILENT.includes(operation)) return { status: 204, headers: {}, body: '' };
    const list = freeList(spoken);
    if (list !== undefined) return withBody(answer, { data: list.data });
    if (operation !== 'webhooks.create') return answer;
    const { secret: _, ...rest } = body as Fields;
    return withBody(answer, rest);
  },
};

export const ENVELOPE_ITEMS: Dialect = {
  changes: 'lists as {items, total_count, page, pages}',
  speak(spoken) {
    const list = freeList(spoken);
    if (list === undefined) return spoken.answer;
    const { page = 1, total = list.data.length, total_pages: pages = 1 } = list.meta ?? {};
    return withBody(spoken.answer, { items: list.data, total_count: total, page, pages });
  },
};

export const ENVELOPE_MORE: Dialect = {
  changes: 'lists as {data, has_more}, without totals',
  speak(spoken) {
    const list = freeList(spoken);
    if (list === undefined) return spoken.answer;
    const { page = 1, total_pages: pages = 1 } = list.meta ?? {};
    return withBody(spoken.answer, { data: list.data, has_more: page < pages });
  },
};

export const ENVELOPE_WRAPPED: Dialect = {
  changes: 'single objects as {data: obj}',
  speak: spoken => (isOne(spoken) ? withBody(spoken.answer, { data: spoken.body }) : spoken.answer),
};
