/**
 * Lines on the alternate screen for a while. They leave no scrollback, and whatever ends the showing (time, key,
 * error, signal) the screen is wiped before the ordinary one comes back.
 */
import { CliError } from '../core/errors.ts';
import type { Clock } from '../platform/host.ts';
import { printable } from './printable.ts';

const WIPE = '\x1b[2J\x1b[3J\x1b[H';
const ENTER = `\x1b[?1049h${WIPE}\x1b[?25l`;
/** Clears, leaves the alternate screen, shows the cursor. Harmless when written twice. */
export const LEAVE_ALTERNATE_SCREEN = `${WIPE}\x1b[?1049l\x1b[?25h`;

const CTRL_C = '\x03';

/** Where the countdown stands, when the first line leaves room. */
const COUNTDOWN_COLUMN = 51;

export interface KeySource {
  /** The first key pressed; undefined when there will be none. */
  readonly pressed: Promise<string | undefined>;
}

export interface Reveal {
  /** What to show. The first line gets the countdown beside it. */
  readonly lines: readonly string[];
  readonly seconds: number;
  /** Writes at once; also called while the process is dying. */
  readonly terminal: { write(text: string): void };
  readonly clock: Clock;
  readonly keys: KeySource;
  readonly signal: AbortSignal;
  /** Given the restoring function for signals and crashes; returns how to take it back. */
  readonly onCrash?: (restore: () => void) => () => void;
}

/**
 * Shows the lines until the time is over or a key is pressed. Rejects with the signal's reason, or with
 * `interrupted` for ^C; the screen is restored first in every case. `shownMs` is monotonic time.
 */
export async function showOnAlternateScreen(reveal: Reveal): Promise<{ shownMs: number }> {
  const { terminal, clock, signal } = reveal;
  signal.throwIfAborted();
  const restore = () => terminal.write(LEAVE_ALTERNATE_SCREEN);
  const forget = reveal.onCrash?.(restore);
  const finished = new AbortController();
  const started = clock.monotonic();
  try {
    terminal.write(ENTER);
    await untilHidden(reveal, AbortSignal.any([signal, finished.signal]));
  } finally {
    restore();
    forget?.();
    finished.abort();
  }
  signal.throwIfAborted();
  return { shownMs: clock.monotonic() - started };
}

async function untilHidden(reveal: Reveal, ended: AbortSignal): Promise<void> {
  const { clock, keys, seconds, terminal } = reveal;
  const [title = '', ...rest] = reveal.lines.map(printable);
  const deadline = clock.monotonic() + seconds * 1000;
  const isPressed = keys.pressed.then(key => {
    if (key === CTRL_C) throw new CliError('interrupted', { message: 'stopped; the screen is cleared' });
    // Where no keys will come, the time alone ends it.
    return key !== undefined || new Promise<never>(() => undefined);
  });
  for (let left = seconds * 1000; left > 0; left = deadline - clock.monotonic()) {
    const text = [`${title.padEnd(COUNTDOWN_COLUMN)}  hides in ${Math.ceil(left / 1000)} s`, ...rest];
    // Raw mode does not return the carriage at a line feed.
    terminal.write(`\x1b[H${text.map(line => `${line}\x1b[K`).join('\r\n')}\x1b[J`);
    const isHidden = await Promise.race([isPressed, clock.sleep(left % 1000 || 1000, ended).then(() => false)]);
    ended.throwIfAborted();
    if (isHidden) return;
  }
}

/** The part of a terminal's input stream that is used; `process.stdin` fits. */
interface RawInput {
  setRawMode(raw: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
  on(event: 'data', listener: (chunk: Buffer | string) => void): unknown;
  off(event: 'data', listener: (chunk: Buffer | string) => void): unknown;
}

/** Opens raw mode at once. Each chunk of input is one key: an arrow is a chunk of several bytes, and any of them hides the screen. */
export function openTerminalKeys(input: RawInput) {
  let press: (key: string | undefined) => void = () => undefined;
  const pressed = new Promise<string | undefined>(resolve => {
    press = resolve;
  });
  const onData = (chunk: Buffer | string) => press(String(chunk));
  input.setRawMode(true);
  input.on('data', onData);
  input.resume();
  return {
    pressed,
    /** Acts as if this key had been pressed. */
    press: (key: string) => press(key),
    /** Gives the terminal back to line mode. Call it in `finally`. */
    close() {
      input.off('data', onData);
      input.pause();
      input.setRawMode(false);
      press(undefined);
    },
  };
}
