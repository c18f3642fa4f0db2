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

describe('a request without an answer', () => {
  it('is spoken of after 150 ms, each second anew, and the line goes with the answer', async () => {
    const { life, until } = held('redraw');
    const answered = life.asked('api.example.com');
    expect(await until(140)).toEqual([]);
    expect(await until(900)).toEqual(['shown waiting for api.example.com']);
    expect(await until(2500)).toEqual([
      'shown waiting for api.example.com  1 s',
      'shown waiting for api.example.com  2 s',
    ]);
    life.asked('api.example.com')();
    expect(await until(2990)).toEqual([]);
    answered();
    life.end();
    expect(await until(9000)).toEqual([]);
  });

  it('is said once, and later, where no line can be taken away', async () => {
    const { life, until } = held('spoken');
    const answered = life.asked('api.example.com');
    expect(await until(2400)).toEqual([]);
    expect(await until(9000)).toEqual(['said waiting for api.example.com  2 s']);
    answered();
    life.asked('api.example.com')();
    expect(await until(20_000)).toEqual([]);
  });

  it('is not spoken of where nobody looks', async () => {
    const { life, until } = held('log', { watched: false });
    life.asked('api.example.com');
    expect(await until(20_000)).toEqual([]);
  });
});

describe('a pause the service asks for', () => {
  it('counts down on a terminal', async () => {
    const { life, until } = held('redraw');
    life.told('api.example.com', 2500, 'throttled');
    expect(await until(2400)).toEqual([
      'shown api.example.com has too many requests (429): asked again in 3 s',
      'shown api.example.com has too many requests (429): asked again in 2 s',
      'shown api.example.com has too many requests (429): asked again in 1 s',
    ]);
  });

  it.each([
    ['log', { watched: false }],
    ['spoken', {}],
    ['redraw', { reports: true }],
  ] as const)('is one line elsewhere, whoever else is told: %s %j', async (mode, where) => {
    const { life, until } = held(mode, where);
    life.told('api.example.com', 12_000, 'throttled');
    life.told('api.example.com', 11_900, 'throttled');
    expect(await until(100)).toEqual(['said api.example.com has too many requests (429): asked again in 12 s']);
    await until(12_500);
    life.told('api.example.com', 5000, 'network');
    expect(await until(12_600)).toEqual(['said api.example.com has no answer: asked again in 5 s']);
  });

  it('says which attempt follows, from the third on', async () => {
    const { life, until } = held('log');
    life.told('api.example.com', 12_000, 'throttled', 3);
    expect(await until(100)).toEqual([
      'said api.example.com has too many requests (429): asked again in 12 s, attempt 3',
    ]);
  });

  it('is also that of a pace which this machine keeps', async () => {
    const { life, until } = held('log');
    life.told('api.example.com', 12_000, { perMinute: 300 });
    expect(await until(100)).toEqual(['said api.example.com is asked 300 times a minute at most: asked again in 12 s']);
  });

  it('is not said with --quiet, nor when it is over before it could be read', async () => {
    const quiet = held('none', { watched: false });
    quiet.life.told('api.example.com', 12_000, 'throttled');
    const short = held('log', { watched: false });
    short.life.told('api.example.com', 999, 'throttled');
    expect([...(await quiet.until(20_000)), ...(await short.until(20_000))]).toEqual([]);
  });
});

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
    for (const mode of ['log', 'spoken'] as const) {
      const { life, until } = held(mode);
      const over = life.awaited('the shared journal at db.example.com', () => 5_000);
      expect(await until(5000)).toEqual([`said ${LINE}: 2 s, at most 5`]);
      over();
      life.awaited('the shared journal at db.example.com', () => 5_000)();
      expect(await until(20_000)).toEqual([]);
    }
    for (const silent of [held('none'), held('redraw', { forPeople: false })]) {
      silent.life.awaited('the shared journal at db.example.com', () => 5_000);
      expect(await silent.until(9000)).toEqual([]);
    }
  });

  it('takes no line of a request away that is waited for at the same time', async () => {
    const { life, until } = held('redraw');
    life.asked('api.example.com');
    expect(await until(500)).toEqual(['shown waiting for api.example.com']);
    life.awaited('the shared journal at db.example.com', () => 5_000)();
    expect(await until(1200)).toEqual(['shown waiting for api.example.com  1 s']);
  });
});
