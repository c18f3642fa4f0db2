import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import type { Clock } from '../../src/platform/host.ts';
import {
  type KeySource,
  LEAVE_ALTERNATE_SCREEN,
  openTerminalKeys,
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

/** Gives this key, or none for ever. */
const keyOf = (key?: string): KeySource => ({
  pressed: key === undefined ? new Promise(() => undefined) : Promise.resolve(key),
});

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
    keys: keyOf(),
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
    const pressed = reveal({ keys: keyOf('\x03'), clock: jumpingClock(0) });
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

test('the first key of a terminal counts; closing gives line mode back', async () => {
  const modes: boolean[] = [];
  const input = Object.assign(new EventEmitter(), {
    setRawMode: (raw: boolean) => modes.push(raw),
    resume: () => undefined,
    pause: () => undefined,
  });
  const keys = openTerminalKeys(input);
  input.emit('data', Buffer.from('\x1b[A'));
  input.emit('data', 'n');
  expect(await keys.pressed).toBe('\x1b[A');
  keys.close();
  const unused = openTerminalKeys(input);
  unused.close();
  expect(await unused.pressed).toBeUndefined();
  expect(modes).toEqual([true, false, true, false]);
  expect(input.listenerCount('data')).toBe(0);
});
