/** How far a run of rows or a long list is, on standard error: one redrawn line, lines for a log, or sentences. */
import type { Clock, OutputStream } from '../platform/host.ts';
import { fitted } from './conversation.ts';
import { printable } from './printable.ts';

export interface Standing {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly unknown: number;
  /** Rows that could not be sent, as with a journal that is away. Told where there are any. */
  readonly unsent: number;
}

/** A list that is read page by page. */
export interface ReadSoFar {
  /** One of its rows, in the singular. */
  readonly noun: string;
  readonly rows: number;
  /** Rows there will be, when the service says so. */
  readonly total: number | undefined;
}

/** `redraw` in place, for a terminal; `log`: a line every 10 % or 10 s; `spoken`: a sentence every 10 %. */
export type ProgressMode = 'redraw' | 'log' | 'spoken' | 'none';

export interface Progress {
  /** A run begins now: what went before it, a question say, is no part of its rate. */
  begin(): void;
  /** Says where the run stands now, when it is time to. */
  update(standing: Standing): void;
  /** The same for a list; says nothing before a second has gone by, ten in a log. */
  reading(soFar: ReadSoFar): void;
  /** Writes a line of its own; the redrawn one comes back with the next update. */
  line(text: string): void;
  /** The same for a sentence, in lines of the screen's width. */
  say(text: string): void;
  /** Redraws a line that is no part of a run or a list, or takes it away. Beside one of those nothing is shown. */
  status(text: string | undefined): void;
  /** A run or a list is being told of. */
  readonly reports: boolean;
  /** Takes the redrawn line away, for somebody else's output. */
  clear(): void;
  /** Resolves when the stream has taken everything. */
  written(): Promise<void>;
}

export interface ProgressSettings {
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
}

/** What is written in each mode. */
interface Report {
  readonly finished: number;
  readonly total: number | undefined;
  drawn(rate: number | undefined): string;
  logged(elapsedMs: number): string;
  spoken(): string;
}

const REDRAW_MS = 100;
const LOG_MS = 10_000;
/** Short runs need no lines in a log. */
const LOG_PAUSE_MS = 1_000;
/** A list that is there sooner needs no line. */
const LONG_READ_MS = 1_000;
/** The rate is that of the last while, for the service may have asked to slow down. */
const RATE_MS = 10_000;
/** Erases the line and goes to its beginning. */
const ERASE = '\r\x1b[2K';

export function createProgress(settings: ProgressSettings): Progress {
  const { mode, stderr, clock, columns, rowsOnScreen = false } = settings;
  let begun = clock.monotonic();
  let readingSince: number | undefined;
  const samples: Sample[] = [{ at: begun, finished: 0 }];
  let [drawnAt, drawn] = [Number.NEGATIVE_INFINITY, false];
  let [status, reported]: [string | undefined, boolean] = [undefined, false];
  let unhold: (() => void) | undefined;
  let [loggedAt, tenths, isLineOpen] = [begun, 0, false];

  let written = Promise.resolve();

  /** Called at once, so that lines stay in order with those of others; a full pipe is waited for at the end. */
  function write(text: string): void {
    const writing = stderr.write(text);
    written = Promise.all([written, writing]).then(() => undefined);
  }

  function clear(): void {
    if (drawn) write(ERASE);
    letGo();
  }

  function letGo(): void {
    unhold?.();
    [unhold, drawn, status] = [undefined, false, undefined];
  }

  function draw(text: string): void {
    write(`${ERASE}${text.slice(0, columns() - 1)}`);
    drawn = true;
    // Whatever a signal brings next stands below what was done until then.
    unhold ??= settings.onCrash(() => {
      letGo();
      settings.writeTerminal('\n');
    });
  }

  function redraw(report: Report, now: number): void {
    const { finished, total } = report;
    if (now - drawnAt < REDRAW_MS && finished !== total) return;
    const rate = rateOf(samples, { at: now, finished });
    draw(report.drawn(rate));
    [drawnAt, status] = [now, undefined];
  }

  function log({ finished, total, logged, spoken }: Report, now: number): void {
    const tenth = total === undefined || total === 0 ? 0 : Math.floor((finished * 10) / total);
    const since = now - loggedAt;
    const due = tenth > tenths ? since >= LOG_PAUSE_MS : mode === 'log' && since >= LOG_MS;
    // Who was told how far it is, is told of the end; of a short run the summary alone speaks.
    if (finished === total ? !isLineOpen : !due) return;
    [loggedAt, tenths, isLineOpen] = [now, tenth, finished !== total];
    write(`${mode === 'spoken' ? spoken() : logged(now - begun)}\n`);
  }

  function show(report: Report, now: number): void {
    reported = report.finished !== report.total;
    if (mode === 'redraw') redraw(report, now);
    else if (mode !== 'none') log(report, now);
  }

  function line(text: string): void {
    clear();
    write(`${text}\n`);
  }

  return {
    begin() {
      begun = clock.monotonic();
      loggedAt = begun;
      samples.splice(0, samples.length, { at: begun, finished: 0 });
    },
    update: standing => show(runReport(standing), clock.monotonic()),
    reading(soFar) {
      const now = clock.monotonic();
      readingSince ??= now;
      // A script that lists for a few seconds expects nothing on standard error.
      const long = mode === 'log' ? LOG_MS : LONG_READ_MS;
      if (!rowsOnScreen && now - readingSince >= long) show(readReport(soFar), now);
    },
    line: text => line(printable(text)),
    say(text) {
      const cells = stderr.isTerminal ? columns() : Number.POSITIVE_INFINITY;
      for (const each of fitted(printable(text), cells)) line(each);
    },
    status(text) {
      if (text === undefined ? status === undefined : mode !== 'redraw' || reported) return;
      if (text === undefined) return clear();
      draw(printable(text));
      status = text;
    },
    get reports() {
      return reported;
    },
    clear,
    written: () => written,
  };
}

interface Sample {
  readonly at: number;
  readonly finished: number;
}

/** Rows a second over the last while; undefined as long as that says nothing. */
function rateOf(samples: Sample[], now: Sample): number | undefined {
  samples.push(now);
  while (samples.length > 2 && now.at - (samples[1]?.at ?? now.at) >= RATE_MS) samples.shift();
  const [oldest = now] = samples;
  const elapsed = now.at - oldest.at;
  const rate = ((now.finished - oldest.finished) * 1000) / elapsed;
  return elapsed >= 1000 && rate > 0 ? rate : undefined;
}

function runReport({ total, done, failed, unknown, unsent }: Standing): Report {
  const finished = done + failed + unknown + unsent;
  const some = (words: string) => (unsent === 0 ? '' : words);
  return {
    finished,
    total,
    drawn: rate =>
      [
        `${finished}/${total}`,
        `${Math.floor((finished * 100) / total)}%`,
        `ok ${done}`,
        `failed ${failed}`,
        `unknown ${unknown}`,
        ...(unsent === 0 ? [] : [`not sent ${unsent}`]),
        ...speedWords(rate, total - finished),
      ].join('  '),
    logged: elapsedMs =>
      `${finished}/${total} ok=${done} failed=${failed} unknown=${unknown}${some(` not_sent=${unsent}`)} elapsed=${Math.round(elapsedMs / 1000)}s`,
    spoken: () =>
      `${finished} of ${total}: ${done} done, ${failed} failed, ${unknown} unknown${some(`, ${unsent} not sent`)}`,
  };
}

function readReport({ noun, rows, total }: ReadSoFar): Report {
  const known = total !== undefined && total >= rows && total > 0 ? total : undefined;
  const many = `${noun}s`;
  return {
    finished: rows,
    total: known,
    drawn: rate =>
      known === undefined
        ? [`${rows} ${many}`, ...speedWords(rate, undefined)].join('  ')
        : [`${rows}/${known} ${many}`, `${Math.floor((rows * 100) / known)}%`, ...speedWords(rate, known - rows)].join(
            '  ',
          ),
    logged: elapsedMs =>
      `${rows}${known === undefined ? '' : `/${known}`} ${many} elapsed=${Math.round(elapsedMs / 1000)}s`,
    spoken: () => `${rows}${known === undefined ? '' : ` of ${known}`} ${many}`,
  };
}

function speedWords(rate: number | undefined, missing: number | undefined): string[] {
  if (rate === undefined || missing === 0) return [];
  const speed = `${rate < 100 ? rate.toFixed(1) : rate.toFixed(0)}/s`;
  return missing === undefined ? [speed] : [speed, `${left(missing / rate)} left`];
}

function left(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 120) return `${whole} s`;
  return whole < 7200 ? `${Math.ceil(whole / 60)} min` : `${Math.ceil(whole / 3600)} h`;
}
