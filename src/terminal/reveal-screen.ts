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
  /** The next key pressed; undefined when there will be none, or the signal ended the wait. */
  next(signal: AbortSignal): Promise<string | undefined>;
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

type Event = { readonly key: string | undefined } | 'tick';

async function untilHidden(reveal: Reveal, ended: AbortSignal): Promise<void> {
  const { clock, keys, seconds } = reveal;
  const deadline = clock.monotonic() + seconds * 1000;
  let pressed: Promise<Event> | undefined = keys.next(ended).then(key => ({ key }));
  for (let left = seconds * 1000; left > 0; left = deadline - clock.monotonic()) {
    draw(reveal, Math.ceil(left / 1000));
    const tick = clock.sleep(left % 1000 || 1000, ended).then((): Event => 'tick');
    const event: Event = await Promise.race(pressed === undefined ? [tick] : [pressed, tick]);
    ended.throwIfAborted();
    if (event === 'tick') continue;
    if (event.key === CTRL_C) throw new CliError('interrupted', { message: 'stopped; the screen is cleared' });
    if (event.key !== undefined) return;
    // No more keys will come: the time alone ends it.
    pressed = undefined;
  }
}

function draw({ terminal, lines }: Reveal, secondsLeft: number): void {
  const [title = '', ...rest] = lines.map(printable);
  const text = [`${title.padEnd(COUNTDOWN_COLUMN)}  hides in ${secondsLeft} s`, ...rest];
  // Raw mode does not return the carriage at a line feed.
  terminal.write(`\x1b[H${text.map(line => `${line}\x1b[K`).join('\r\n')}\x1b[J`);
}
