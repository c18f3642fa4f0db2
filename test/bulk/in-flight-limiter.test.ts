import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createInFlightLimiter, type InFlightRow } from '../../src/bulk/scheduler.ts';

function slots(workers: number, ahead: number) {
  let freed = 0;
  const made = createInFlightLimiter({ workers: () => workers, ahead: () => ahead, onFree: () => (freed += 1) });
  return { ...made, freed: () => freed };
}
test('there are never more on the wire than allowed, and never more begun than that and the ones ahead', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 0, max: 3 }),
      fc.array(fc.tuple(fc.constantFrom('begin', 'leave', 'land', 'end'), fc.nat()), { maxLength: 80, size: 'max' }),
      async (workers, ahead, steps) => {
        const gate = slots(workers, ahead);
        const open: InFlightRow[] = [];
        const wire = new Set<InFlightRow>();
        const asked = new Set<InFlightRow>();
        for (const [what, which] of steps) {
          const slot = open[which % Math.max(1, open.length)];
          if (what === 'begin' && gate.hasRoom()) open.push(gate.begin());
          else if (slot === undefined) continue;
          else if (what === 'leave') {
            // One that is sent a second time keeps its place.
            if (asked.has(slot)) continue;
            asked.add(slot);
            void Promise.resolve(slot.acquire()).then(may => may && open.includes(slot) && wire.add(slot));
          } else if (what === 'land') {
            slot.acknowledge();
            wire.delete(slot);
          } else if (what === 'end') {
            slot.end();
            wire.delete(slot);
            open.splice(open.indexOf(slot), 1);
          }
          await undefined;
          await undefined;
          expect(gate.flying()).toBeLessThanOrEqual(workers);
          expect(wire.size).toBeLessThanOrEqual(workers);
        }
        for (const slot of open) slot.end();
        expect(gate.flying()).toBe(0);
      },
    ),
  );
});

/** The same rules without a word of speed: rows in a list, each in one state, and those that wait in their order. */
function simpleLimiter(workers: number) {
  const rows: ('preparing' | 'waiting' | 'flying' | 'over')[] = [];
  const queue: number[] = [];
  const flying = () => rows.filter(state => state === 'flying').length;
  function over(row: number): void {
    rows[row] = 'over';
    for (const next of queue.splice(0)) {
      if (rows[next] !== 'waiting') continue;
      if (flying() < workers) rows[next] = 'flying';
      else queue.push(next);
    }
  }
  return {
    flying,
    wire: () => rows.flatMap((state, row) => (state === 'flying' ? [row] : [])),
    begin: () => rows.push('preparing') - 1,
    leave(row: number): boolean {
      if (rows[row] !== 'preparing') return false;
      const isFree = queue.length === 0 && flying() < workers;
      rows[row] = isFree ? 'flying' : 'waiting';
      if (!isFree) queue.push(row);
      return true;
    },
    land: (row: number) => rows[row] === 'flying' && over(row),
    end: (row: number) => rows[row] !== 'over' && over(row),
  };
}

test('the same rows leave in the same order as from a simple list', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.tuple(fc.constantFrom('begin', 'leave', 'leave', 'land', 'end'), fc.nat()), {
        maxLength: 60,
        size: 'max',
      }),
      async (workers, steps) => {
        const [gate, simple] = [slots(workers, 100), simpleLimiter(workers)];
        const rows: InFlightRow[] = [];
        const wire = new Set<number>();
        for (const [what, which] of steps) {
          const row = which % Math.max(1, rows.length);
          if (what === 'begin') {
            rows.push(gate.begin());
            simple.begin();
          } else if (rows[row] === undefined) continue;
          else if (what === 'leave') {
            // A row asks once until it is over; one that is sent a second time keeps its place.
            if (!simple.leave(row)) continue;
            void Promise.resolve(rows[row].acquire()).then(may => may && wire.add(row));
          } else if (what === 'land') {
            rows[row].acknowledge();
            if (simple.land(row) !== false) wire.delete(row);
          } else {
            rows[row].end();
            simple.end(row);
            wire.delete(row);
          }
          for (let turn = 0; turn < 4; turn += 1) await undefined;
          expect(gate.flying()).toBe(simple.flying());
          expect([...wire].toSorted((a, b) => a - b)).toEqual(simple.wire());
        }
      },
    ),
  );
});
