import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/platform/host.ts';
import { createSignOfLife, type ProgressMode } from '../../src/terminal/progress.ts';

/** A clock that goes on when it is told to, and what is said meanwhile. */
function held(mode: ProgressMode, { watched = true, forPeople = true, reports = false } = {}) {
  let now = 0;
  const sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleepers.push({ at: now + ms, wake: resolve });
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  };
  const said: string[] = [];
  const progress = {
    say: (text: string) => said.push(`said ${text}`),
    status: (text: string | undefined) => said.push(text === undefined ? 'cleared' : `shown ${text}`),
    reports,
  };
  const life = createSignOfLife({ mode, watched, forPeople, progress, clock });
  return {
    life,
    /** To that time, in ms; what was shown on the way, without idle clearing. */
    async until(ms: number) {
      for (let step = now + 10; step <= ms; step += 10) {
        now = step;
        for (const sleeper of sleepers.splice(0)) {
          if (sleeper.at > now) sleepers.push(sleeper);
          else sleeper.wake();
        }
        await new Promise(setImmediate);
      }
      now = ms;
      return said.splice(0).filter((line, index, all) => line !== 'cleared' || (index > 0 && all[index - 1] !== line));
    },
  };
}
describe('what is waited for beside the service', () => {
  const LINE = 'waiting for the shared journal at db.example.com';

  it('is spoken of after two seconds, with the longest that it may take, until it is over', async () => {
    const { life, until } = held('redraw');
    let most = 15_000;
    const over = life.awaited('the shared journal at db.example.com', () => most);
    expect(await until(1990)).toEqual([]);
    expect(await until(3100)).toEqual([`shown ${LINE}: 2 s, at most 15`, `shown ${LINE}: 3 s, at most 15`]);
    most = 23_400;
    expect(await until(4100)).toEqual([`shown ${LINE}: 4 s, at most 23`]);
    over();
    expect(await until(9000)).toEqual([]);
  });

  it('is spoken of once where the line stays, and never where nobody looks or it is soon over', async () => {
    const { life, until } = held('lines');
    const over = life.awaited('the shared journal at db.example.com', () => 5_000);
    expect(await until(5000)).toEqual([`said ${LINE}: 2 s, at most 5`]);
    over();
    life.awaited('the shared journal at db.example.com', () => 5_000)();
    expect(await until(20_000)).toEqual([]);
    for (const silent of [held('none'), held('redraw', { forPeople: false })]) {
      silent.life.awaited('the shared journal at db.example.com', () => 5_000);
      expect(await silent.until(9000)).toEqual([]);
    }
  });
});
