import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import type { Clock } from '../../src/platform/host.ts';
import { openTerminalKeys } from '../../src/terminal/key-source.ts';
import {
  type KeySource,
  LEAVE_ALTERNATE_SCREEN,
  type Reveal,
  showOnAlternateScreen,
} from '../../src/terminal/reveal-screen.ts';

/** A clock that jumps to the end of each sleep, and stands still where `stops` says so. */
function jumpingClock(stops = Number.POSITIVE_INFINITY): Clock {
  let now = 1_000_000;
  let sleeps = 0;
  return {
    now: () => now,
    monotonic: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleeps += 1;
        signal?.addEventListener('abort', () => reject(signal.reason));
        if (sleeps > stops) return;
        now += ms;
        resolve();
      }),
  };
}

/** Gives these keys one after the other, then none for ever. */
function keysOf(...keys: (string | undefined)[]): KeySource {
  return {
    next: signal =>
      keys.length > 0
        ? Promise.resolve(keys.shift())
        : new Promise(resolve => signal.addEventListener('abort', () => resolve(undefined))),
  };
}

function reveal(more: Partial<Reveal>) {
  let written = '';
  const options: Reveal = {
    lines: ['visa · ads', 'Number  4000 0000 0000 4242'],
    seconds: 30,
    terminal: {
      write: text => {
        written += text;
      },
    },
    clock: jumpingClock(),
    keys: keysOf(),
    signal: new AbortController().signal,
    ...more,
  };
  return { shown: showOnAlternateScreen(options), screen: () => written };
}

describe('the reveal screen', () => {
  test('counts down, then wipes and restores', async () => {
    const { shown, screen } = reveal({ seconds: 3 });
    expect(await shown).toEqual({ shownMs: 3000 });
    expect(screen().startsWith('\x1b[?1049h')).toBe(true);
    expect(screen().match(/hides in \d+ s/g)).toEqual(['hides in 3 s', 'hides in 2 s', 'hides in 1 s']);
    expect(screen().endsWith(LEAVE_ALTERNATE_SCREEN)).toBe(true);
    expect(LEAVE_ALTERNATE_SCREEN).toMatch(/2J.*3J.*\?1049l.*\?25h/s);
  });

  test('^C and a signal restore first', async () => {
    const pressed = reveal({ keys: keysOf('\x03'), clock: jumpingClock(0) });
    await expect(pressed.shown).rejects.toMatchObject({ kind: 'interrupted' });
    expect(pressed.screen().endsWith(LEAVE_ALTERNATE_SCREEN)).toBe(true);

    const abort = new AbortController();
    const reason = new CliError('terminated', { message: 'stopped' });
    const stopped = reveal({ signal: abort.signal, clock: jumpingClock(0) });
    abort.abort(reason);
    await expect(stopped.shown).rejects.toBe(reason);
    expect(stopped.screen().endsWith(LEAVE_ALTERNATE_SCREEN)).toBe(true);
  });

  test('the restoring function is given for a crash and taken back after', async () => {
    const events: string[] = [];
    const onCrash = (restore: () => void) => {
      restore();
      events.push('given');
      return () => events.push('taken back');
    };
    const { shown, screen } = reveal({ seconds: 1, onCrash });
    await shown;
    expect(events).toEqual(['given', 'taken back']);
    expect(screen().startsWith(LEAVE_ALTERNATE_SCREEN)).toBe(true);
  });
});

test('keys of a terminal arrive in order; closing gives line mode back', async () => {
  const modes: boolean[] = [];
  const input = Object.assign(new EventEmitter(), {
    setRawMode: (raw: boolean) => modes.push(raw),
    resume: () => undefined,
    pause: () => undefined,
  });
  const keys = openTerminalKeys(input);
  const { signal } = new AbortController();
  const waiting = keys.next(signal);
  input.emit('data', Buffer.from('n'));
  input.emit('data', '\x1b[A');
  expect(await waiting).toBe('n');
  expect(await keys.next(signal)).toBe('\x1b[A');
  const abort = new AbortController();
  const aborted = keys.next(abort.signal);
  abort.abort();
  expect(await aborted).toBeUndefined();
  const last = keys.next(signal);
  keys.close();
  expect(await last).toBeUndefined();
  expect(modes).toEqual([true, false]);
  expect(input.listenerCount('data')).toBe(0);
});
