/** The pace of waiting: polite and on time (docs/design/security.md, G15). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { live, looks, type Waiting, waitFor } from '../../src/events/poll.ts';

const BEGAN = Date.parse('2026-11-20T14:00:00Z');

interface Machine extends Waiting {
  /** Milliseconds of running time so far. */
  ran: number;
}

/** A machine on which time passes only in pauses; `onPause` is told before each ends. */
function machine(onPause: (at: Machine) => void = () => undefined, fraction = 0.5): Machine {
  const stopping = new AbortController();
  const made: Machine = {
    ran: 0,
    clock: {
      now: () => BEGAN + made.ran,
      monotonic: () => made.ran,
      async sleep(ms, signal) {
        // A bound on a look, which none of these reaches.
        if (ms >= 10_000 && signal !== undefined && signal !== made.signal) {
          await new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        }
        made.ran += ms;
        onPause(made);
      },
    },
    random: { bytes: count => new Uint8Array(count), fraction: () => fraction },
    signal: stopping.signal,
  };
  return made;
}

async function moments(waiting: Machine, timeoutMs: number): Promise<number[]> {
  const at: number[] = [];
  for await (const _ of looks(waiting, { timeoutMs }, async () => undefined)) at.push(waiting.ran);
  return at;
}

describe('turns', () => {
  it('come at once, then with growing pauses, and a last time when time is over', async () => {
    const at = await moments(machine(), 30_000);
    expect(at[0]).toBe(0);
    expect(at.at(-1)).toBeLessThan(31_000);
    expect(at).toHaveLength(10);
  });

  it('are never two within a second, whatever the time-out and the chance', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 600_000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        async (ms, chance) => {
          const at = await moments(
            machine(() => undefined, chance),
            ms,
          );
          const gaps = at.slice(1).map((each, index) => each - (at[index] ?? 0));
          expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000);
          expect(Math.max(...gaps)).toBeLessThanOrEqual(5_500);
          expect(at.at(-1)).toBeGreaterThanOrEqual(ms);
          expect(at.at(-1)).toBeLessThan(ms + 1_000);
        },
      ),
    );
  });
});

describe('waitFor', () => {
  const gone = () => new CliError('unreachable', { message: 'gone' });

  it('asks on when the service goes away and comes back, and says so once', async () => {
    const answers = [undefined, gone(), gone(), undefined, gone(), 'found'];
    const said: string[] = [];
    const found = await waitFor(machine(), {
      timeoutMs: 60_000,
      look: async () => {
        const next = answers.shift();
        if (next instanceof CliError) throw next;
        return next;
      },
      onTrouble: error => said.push(error.message),
    });
    expect({ found, said }).toEqual({ found: 'found', said: ['gone', 'gone'] });
  });

  const nobody = () => new CliError('unreachable', { message: 'refused', outcome: 'not_sent' });
  const absent = () => new CliError('unreachable', { message: 'no such route', httpStatus: 501 });

  it.each([
    ['nobody is at the address', nobody],
    ['the operation is not there', absent],
  ])('throws at once when %s', async (_, failure) => {
    const waiting = machine();
    const looking = waitFor(waiting, { timeoutMs: 60_000, look: async () => Promise.reject(failure()) });
    await expect(looking).rejects.toMatchObject({ kind: 'unreachable' });
    expect(waiting.ran).toBe(0);
  });

  it('cuts off a look that hangs, ten seconds after its time', async () => {
    const waiting = machine();
    const clock = {
      ...waiting.clock,
      sleep: async (ms: number) => void Object.assign(waiting, { ran: waiting.ran + ms }),
    };
    const look = (signal: AbortSignal) =>
      new Promise<undefined>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    await expect(waitFor({ ...waiting, clock }, { timeoutMs: 5_000, look })).rejects.toMatchObject({
      kind: 'unreachable',
      message: 'the service did not answer before the wait was over',
    });
    expect(waiting.ran).toBe(15_000);
  });

  it('says that it does not know when the service is away at the end', async () => {
    let asked = 0;
    const looking = waitFor(machine(), {
      timeoutMs: 10_000,
      look: async () => {
        asked += 1;
        if (asked > 1) throw gone();
        return undefined;
      },
    });
    await expect(looking).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

describe('live', () => {
  it('shows each once, and ends with an error when the service stays away for five minutes', async () => {
    let looked = 0;
    const view = live(machine(), {
      everyMs: 2_000,
      look: async () => {
        looked += 1;
        if (looked > 3) throw new CliError('unreachable', { message: 'gone' });
        return [{ id: 'a' }, { id: `b${looked}` }];
      },
    });
    const shown: string[] = [];
    await expect(
      (async () => {
        for await (const rows of view) shown.push(...rows.map(({ id }) => id));
      })(),
    ).rejects.toMatchObject({ kind: 'unreachable' });
    expect(shown).toEqual(['a', 'b1', 'b2', 'b3']);
    expect(looked).toBeLessThan(160);
  });
});
