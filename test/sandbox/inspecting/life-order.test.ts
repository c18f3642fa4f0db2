/** What happened to a card in one order: by number within a kind, by time between kinds. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TIMELINE_KINDS, type TimelineKind } from '../../../src/contract/sandbox/inspector.ts';
import { inOrder, type TimelineItem } from '../../../src/sandbox/admin/timeline.ts';

const item = (kind: TimelineKind, id: string, at = 0): TimelineItem => ({
  ...{ kind, id, at },
  ...{ number: null, text: '', amount: null },
});
const listsOf = (items: readonly TimelineItem[]) =>
  Object.fromEntries(TIMELINE_KINDS.map(kind => [kind, items.filter(each => each.kind === kind)])) as unknown as Record<
    TimelineKind,
    readonly TimelineItem[]
  >;

it('goes by time between kinds, and at one time from requests to deliveries', () => {
  const lists = listsOf([
    item('delivery', 'd1', 1),
    item('event', 'v1', 1),
    item('event', 'v2', 2),
    item('entry', 'e1', 1),
    item('request', 'r1', 1),
    item('request', 'r2', 2),
  ]);
  expect(inOrder(lists).map(({ id }) => id)).toEqual(['r1', 'e1', 'v1', 'd1', 'r2', 'v2']);
});

it('loses nothing, and keeps the order of every kind, whatever the clock did', () => {
  const any = fc.record({ kind: fc.constantFrom(...TIMELINE_KINDS), at: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(any, { maxLength: 40 }), given => {
      const items = given.map(({ kind, at }, nth) => item(kind, `${nth}`, at));
      const order = inOrder(listsOf(items));
      expect(order.length).toBe(items.length);
      expect(listsOf(order)).toEqual(listsOf(items));
    }),
  );
});
