import { expect, it } from 'vitest';
import { runTimersUntil, type ServiceParts } from '../../src/sandbox/service/service.ts';
import { StoreBusy } from '../../src/sandbox/store/sql.ts';

it('tells of a store that stays busy once, of one that is busy again once more, and of every other error', async () => {
  const busy = () => new StoreBusy('busy');
  const comes = [busy(), busy(), new Error('odd'), new Error('odd'), busy(), undefined, busy()];
  const told: string[] = [];
  const over = new AbortController();
  let looks = 0;
  // A clock alone is read, as long as nothing is due.
  const read = async () => {
    const error = comes[looks++];
    if (error !== undefined) throw error;
    return 0;
  };
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: async () => {
      if (looks === comes.length) over.abort();
    },
  };
  const store = { read, write: async () => undefined };
  const onFault = (error: unknown) => told.push((error as Error).message);
  await runTimersUntil({ store, clock, onFault } as unknown as ServiceParts, over.signal);
  expect(told).toEqual(['busy', 'odd', 'odd', 'busy', 'busy']);
});
