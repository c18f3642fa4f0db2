/**
 * What goes on, on standard error: how far a run of rows or a long list is, and what is waited for. One redrawn line on a terminal, a
 * sentence now and then elsewhere.
 */

import { SECOND } from '../core/durations.ts';
import type { Clock, OutputStream } from '../platform/host.ts';
import { fitted } from './fold.ts';
import { printable } from './printable.ts';

/** Rows, by what came of them. `not_sent`: they could not be, as with a journal that is away; told where there are any. */
export type RowTally = Readonly<Record<'total' | 'done' | 'refused' | 'unknown' | 'not_sent', number>>;

/** A list that is read page by page. */
export interface ReadSoFar {
  /** One of its rows, in the singular. */
  readonly noun: string;
  readonly rows: number;
  /** Rows there will be, when the service says so. */
  readonly total: number | undefined;
}

/** `redraw` in place, for a terminal; `lines`: a sentence every 10 s, for a log and a screen reader. */
export type ProgressMode = 'redraw' | 'lines' | 'none';

interface ProgressSettings {
  readonly mode: ProgressMode;
  readonly stderr: OutputStream;
  readonly clock: Clock;
  /** How wide a terminal is, in cells. */
  readonly columns: () => number;
  /** Has something done when a signal comes; returns how to take that back. */
  readonly onCrash: (restore: () => void) => () => void;
  /** Writes to the terminal at once. */
  readonly writeTerminal: (text: string) => void;
  /** Rows go to the same screen as they come; a line that says how many would stand between them. */
  readonly rowsOnScreen?: boolean;
  /** False where nobody looks: requests are not spoken of, pauses are. */
  readonly watched: boolean;
}

/** How far it is, as the beginning of a redrawn line and as a sentence. */
interface Report {
  readonly finished: number;
  readonly total: number | undefined;
  readonly drawn: string;
  readonly said: string;
}

const REDRAW_MS = 100;
const LINES_MS = 10_000;
/** A list that is there sooner needs no redrawn line. */
const LONG_READ_MS = 1_000;
/** Erases the line and goes to its beginning. */
const ERASE = '\r\x1b[2K';

/** A request without an answer for this long is spoken of. */
export const FIRST_SIGN_MS = 150;
/** A line that cannot be taken away again is worth it later only: a screen reader would read it at every command. */
const FIRST_LASTING_SIGN_MS = 2_500;
/** What is waited for beside the service is spoken of later: most of it is there before it is read. */
export const LONG_WAIT_MS = 2_000;
/** Lines that stay are this far apart at least. */
const LASTING_MS = 10_000;

/** Why nothing is sent for a while: what the service said, or the pace that this machine keeps by itself. */
type Pause = 'throttled' | 'in_progress' | 'network' | { readonly perMinute: number };

export type Progress = ReturnType<typeof createProgress>;

export function createProgress(settings: ProgressSettings) {
  const { mode, stderr, clock, columns, rowsOnScreen = false, watched } = settings;
  let begun = clock.monotonic();
  let shownAt = mode === 'redraw' ? Number.NEGATIVE_INFINITY : begun;
  let readingSince: number | undefined;
  let [reported, hasSaid] = [false, false];
  /** There while a line is drawn; whether that is one of waiting. */
  let unhold: (() => void) | undefined;
  let isOfWaiting = false;
  let written = Promise.resolve();
  /** Requests without an answer; what is waited for is shown until this is aborted; pauses are said again after this time. */
  let asking = 0;
  let showing: AbortController | undefined;
  let saidUntil = Number.NEGATIVE_INFINITY;

  /** Called at once, so that lines stay in order with those of others; a full pipe is waited for at the end. */
  function write(text: string): void {
    const writing = stderr.write(text);
    written = Promise.all([written, writing]).then(() => undefined);
  }

  function clear(): void {
    if (unhold !== undefined) write(ERASE);
    letGo();
  }

  function letGo(): void {
    unhold?.();
    [unhold, isOfWaiting] = [undefined, false];
  }

  function draw(text: string): void {
    write(`${ERASE}${text.slice(0, columns() - 1)}`);
    // Whatever a signal brings next stands below what was done until then.
    unhold ??= settings.onCrash(() => {
      letGo();
      settings.writeTerminal('\n');
    });
  }

  function show(report: Report): void {
    const now = clock.monotonic();
    const isOver = report.finished === report.total;
    reported = !isOver;
    if (mode === 'none') return;
    if (mode === 'redraw') {
      if (now - shownAt < REDRAW_MS && !isOver) return;
      draw([report.drawn, ...speedWords(report, now - begun)].join('  '));
      isOfWaiting = false;
    } else {
      // Who was told how far it is, is told of the end; of a short run the summary alone speaks.
      if (isOver ? !hasSaid : now - shownAt < LINES_MS) return;
      hasSaid = !isOver;
      write(`${report.said}\n`);
    }
    shownAt = now;
  }

  function line(text: string): void {
    clear();
    write(`${text}\n`);
  }

  /** A sentence, in lines of the screen's width. */
  function say(text: string): void {
    const cells = stderr.isTerminal ? columns() : Number.POSITIVE_INFINITY;
    for (const each of fitted(printable(text), cells)) line(each);
  }

  /** Shows what `words` say, from `after` ms on, anew each second, until something else is the case; beside a run or a list nothing. */
  function tell(after: number, words: (ms: number) => string): void {
    end();
    const until = new AbortController();
    const since = clock.monotonic();
    showing = until;
    const go = async () => {
      for (let pause = after; ; pause = SECOND - ((clock.monotonic() - since) % SECOND)) {
        if (pause > 0) await clock.sleep(pause, until.signal);
        if (until.signal.aborted) return;
        const text = words(clock.monotonic() - since);
        if (mode !== 'redraw') return say(text);
        if (reported) continue;
        draw(printable(text));
        isOfWaiting = true;
      }
    };
    void go().catch(() => undefined);
  }

  function end(): void {
    showing?.abort();
    showing = undefined;
    if (isOfWaiting) clear();
  }

  return {
    /** A run begins now: what went before it, a question say, is no part of its rate. */
    begin(): void {
      begun = clock.monotonic();
      if (mode !== 'redraw') shownAt = begun;
    },
    /** Says where the run stands now, when it is time to. */
    update({ total, done, refused, unknown, not_sent }: RowTally): void {
      const finished = done + refused + unknown + not_sent;
      const [more, moreSaid] = not_sent === 0 ? ['', ''] : [`  not sent ${not_sent}`, `, ${not_sent} not sent`];
      show({
        finished,
        total,
        drawn: `${finished}/${total}  ${percent(finished, total)}  ok ${done}  failed ${refused}  unknown ${unknown}${more}`,
        said: `${finished} of ${total}: ${done} done, ${refused} failed, ${unknown} unknown${moreSaid}`,
      });
    },
    /** Progress of a list; says nothing before a second has gone by, ten in a log. */
    reading(soFar: ReadSoFar): void {
      const now = clock.monotonic();
      readingSince ??= now;
      // A script that lists for a few seconds expects nothing on standard error.
      const long = mode === 'redraw' ? LONG_READ_MS : LINES_MS;
      if (!rowsOnScreen && now - readingSince >= long) show(readReport(soFar));
    },
    /** Writes a line of its own; the redrawn one comes back with the next update. */
    line: (text: string): void => line(printable(text)),
    say,
    /** A request to `whom` leaves; call the result when its answer is there, or will not come. */
    asked(whom: string): () => void {
      asking += 1;
      if (watched && asking === 1) tell(mode === 'redraw' ? FIRST_SIGN_MS : FIRST_LASTING_SIGN_MS, waiting(whom));
      return () => {
        asking -= 1;
        if (asking === 0) end();
      };
    },
    /** Something else than the service is waited for, for `mostMs()` in all; call the result when that is over. */
    awaited(whom: string, mostMs: () => number): () => void {
      if (!watched) return () => undefined;
      const seconds = (ms: number) => Math.round(ms / SECOND);
      tell(LONG_WAIT_MS, ms => `waiting for ${whom}: ${seconds(ms)} s, at most ${seconds(mostMs())}`);
      const own = showing;
      return () => {
        // A request that is spoken of by now goes on.
        if (own === showing) end();
      };
    },
    /** Nothing is sent for so long, for the service has no time or is given a rest; `attempt` comes after it, 2 or more. */
    paused(whom: string, ms: number, why: Pause, attempt = 2) {
      const now = clock.monotonic();
      // Many workers are told the same; a pause shorter than a second is over before it is read.
      if (ms < SECOND || mode === 'none' || now < saidUntil) return;
      const text = asksToWait(whom, ms, { why, attempt });
      if (mode === 'redraw' && watched && !reported) return tell(0, text);
      saidUntil = now + Math.max(ms, LASTING_MS);
      say(text(0));
    },
    /** Nothing more is said of what is waited for. */
    end,
    /** Takes the redrawn line away, for somebody else's output. */
    clear,
    /** Resolves when the stream has taken everything. */
    written: (): Promise<void> => written,
  };
}

function readReport({ noun, rows, total }: ReadSoFar): Report {
  const known = total !== undefined && total >= rows && total > 0 ? total : undefined;
  return {
    finished: rows,
    total: known,
    drawn: known === undefined ? `${rows} ${noun}s` : `${rows}/${known} ${noun}s  ${percent(rows, known)}`,
    said: `${rows}${known === undefined ? '' : ` of ${known}`} ${noun}s`,
  };
}

const percent = (part: number, whole: number) => `${Math.floor((part * 100) / whole)}%`;

/** Rows a second and the time left; nothing as long as that says nothing. */
function speedWords({ finished, total }: Report, elapsedMs: number): string[] {
  const rate = (finished * SECOND) / elapsedMs;
  if (elapsedMs < SECOND || rate === 0 || finished === total) return [];
  const speed = `${rate < 100 ? rate.toFixed(1) : rate.toFixed(0)}/s`;
  return total === undefined ? [speed] : [speed, `${left((total - finished) / rate)} left`];
}

function left(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 120) return `${whole} s`;
  return whole < 7200 ? `${Math.ceil(whole / 60)} min` : `${Math.ceil(whole / 3600)} h`;
}

function waiting(whom: string) {
  return (ms: number) => {
    const seconds = Math.floor(ms / SECOND);
    return seconds === 0 ? `waiting for ${whom}` : `waiting for ${whom}  ${seconds} s`;
  };
}

const SAYS = { throttled: 'has too many requests (429)', in_progress: 'is still at it', network: 'has no answer' };

function asksToWait(whom: string, whole: number, { why, attempt }: { readonly why: Pause; readonly attempt: number }) {
  const says = typeof why === 'string' ? SAYS[why] : `is asked ${why.perMinute} times a minute at most`;
  // The first time says as much without its number.
  const which = attempt > 2 ? `, attempt ${attempt}` : '';
  return (ms: number) => `${whom} ${says}: asked again in ${Math.max(1, Math.ceil((whole - ms) / SECOND))} s${which}`;
}
