/** What happened to a card in one order: by number within a kind, by cause between kinds, by time alone nowhere. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TimelineKind } from '../../../src/contract/sandbox/inspector.ts';
import { inOrder, type LifeItem } from '../../../src/sandbox/admin/timeline.ts';

const NONE = { request: [], transaction: [], entry: [], challenge: [], event: [], delivery: [] };
const item = (kind: TimelineKind, id: string, more: Partial<LifeItem> = {}): LifeItem => ({
  ...{ kind, id, at: 0, marks: [id], behind: [] },
  ...more,
});
const ids = (items: readonly LifeItem[]) => items.map(({ id }) => id).join(' ');

describe('in one order', () => {
  it('stands what led to something before it, while the clock stands', () => {
    const lists = {
      ...NONE,
      request: [item('request', 'r1', { marks: ['request create'] }), item('request', 'r2')],
      transaction: [item('transaction', 't2'), item('transaction', 't1')],
      entry: [item('entry', 'e1', { behind: ['request create'] }), item('entry', 'e2', { behind: ['t1'] })],
      event: [
        item('event', 'v1', { behind: ['e1'] }),
        item('event', 'v2', { behind: ['t2'] }),
        item('event', 'v3', { behind: ['e2'] }),
      ],
      delivery: [item('delivery', 'd1', { behind: ['v2'] })],
    };
    expect(ids(inOrder(lists))).toBe('r1 e1 v1 r2 t2 v2 d1 t1 e2 v3');
  });

  it('loses nothing, keeps every order of a kind, and ends, whatever waits for what', () => {
    // What led to something is of a kind before its own, as it is in a sandbox.
    const chain = ['request', 'transaction', 'challenge', 'entry', 'event', 'delivery'] as const;
    const items = (kind: TimelineKind) => {
      const causes = chain.slice(0, chain.indexOf(kind)).flatMap(each => [0, 1, 2, 3].map(nth => `${each} ${nth}`));
      const behind = causes.length === 0 ? fc.constant([]) : fc.array(fc.constantFrom(...causes), { maxLength: 2 });
      return fc
        .array(fc.record({ at: fc.nat(5), behind }), { maxLength: 8, size: 'max' })
        .map(all => all.map((more, nth) => item(kind, `${kind} ${nth % 4}`, more)));
    };
    const lists = fc.record({
      ...{ request: items('request'), transaction: items('transaction'), entry: items('entry') },
      ...{ challenge: items('challenge'), event: items('event'), delivery: items('delivery') },
    });
    fc.assert(
      fc.property(lists, given => {
        const order = inOrder(given);
        expect(order.length).toBe(Object.values(given).flat().length);
        expect(new Set(order).size).toBe(order.length);
        for (const kind of ['request', 'entry', 'event', 'delivery'] as const) {
          expect(order.filter(each => each.kind === kind)).toEqual(given[kind]);
        }
      }),
    );
  });
});
