/** How far a run of rows is, on standard error: one redrawn line, lines for a log, or sentences. */
import type { Clock, OutputStream } from '../host.ts';
import { printable } from './printable.ts';

export interface Standing {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly unknown: number;
}

/** `redraw` in place, for a terminal; `log`: a line every 10 % or 10 s; `spoken`: a sentence every 10 %. */
export type ProgressMode = 'redraw' | 'log' | 'spoken' | 'none';

export interface Progress {
  /** Says where the run stands now, when it is time to. */
  update(standing: Standing): void;
  /** Writes a line of its own; the redrawn one comes back with the next update. */
  line(text: string): void;
  /** Takes the redrawn line away, for somebody else's output. */
  clear(): void;
  /** Resolves when the stream has taken everything. */
  written(): Promise<void>;
}

export interface ProgressSettings {
  readonly mode: ProgressMode;
  readonly stderr: OutputStream;
  readonly clock: Clock;
}

const REDRAW_MS = 100;
const LOG_MS = 10_000;
/** Short runs need no lines in a log. */
const LOG_PAUSE_MS = 1_000;
/** The rate is that of the last while, for the service may have asked to slow down. */
const RATE_MS = 10_000;
/** Erases the line and goes to its beginning. */
const ERASE = '\r\x1b[2K';

export function createProgress({ mode, stderr, clock }: ProgressSettings): Progress {
  const begun = clock.monotonic();
  const samples: Sample[] = [{ at: begun, finished: 0 }];
  let [drawnAt, drawn] = [Number.NEGATIVE_INFINITY, false];
  let [loggedAt, tenths] = [begun, 0];

  let written = Promise.resolve();

  /** Called at once, so that lines stay in order with those of others; a full pipe is waited for at the end. */
  function write(text: string): void {
    const writing = stderr.write(text);
    written = Promise.all([written, writing]).then(() => undefined);
  }

  function clear(): void {
    if (drawn) write(ERASE);
    drawn = false;
  }

  function redraw(standing: Standing, now: number): void {
    const finished = finishedOf(standing);
    if (now - drawnAt < REDRAW_MS && finished < standing.total) return;
    const rate = rateOf(samples, { at: now, finished });
    const width = (stderr.columns ?? 80) - 1;
    write(`${ERASE}${lineOf(standing, rate).slice(0, width)}`);
    [drawnAt, drawn] = [now, true];
  }

  function log(standing: Standing, now: number): void {
    const finished = finishedOf(standing);
    const tenth = Math.floor((finished * 10) / standing.total);
    const since = now - loggedAt;
    const due = tenth > tenths ? since >= LOG_PAUSE_MS : mode === 'log' && since >= LOG_MS;
    if (!due) return;
    [loggedAt, tenths] = [now, tenth];
    write(`${mode === 'spoken' ? sentenceOf(standing) : logLineOf(standing, now - begun)}\n`);
  }

  return {
    update(standing) {
      const now = clock.monotonic();
      if (mode === 'redraw') redraw(standing, now);
      else if (mode !== 'none') log(standing, now);
    },
    line(text) {
      clear();
      write(`${printable(text)}\n`);
    },
    clear,
    written: () => written,
  };
}

interface Sample {
  readonly at: number;
  readonly finished: number;
}

function finishedOf({ done, failed, unknown }: Standing): number {
  return done + failed + unknown;
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

function lineOf(standing: Standing, rate: number | undefined): string {
  const { total, done, failed, unknown } = standing;
  const finished = finishedOf(standing);
  const parts = [
    `${finished}/${total}`,
    `${Math.floor((finished * 100) / total)}%`,
    `ok ${done}`,
    `failed ${failed}`,
    `unknown ${unknown}`,
    ...(rate === undefined
      ? []
      : [`${rate < 100 ? rate.toFixed(1) : rate.toFixed(0)}/s`, `${left((total - finished) / rate)} left`]),
  ];
  return parts.join('  ');
}

function logLineOf(standing: Standing, elapsedMs: number): string {
  const { total, done, failed, unknown } = standing;
  const elapsed = Math.round(elapsedMs / 1000);
  return `${finishedOf(standing)}/${total} ok=${done} failed=${failed} unknown=${unknown} elapsed=${elapsed}s`;
}

function sentenceOf(standing: Standing): string {
  const { total, done, failed, unknown } = standing;
  return `${finishedOf(standing)} of ${total}: ${done} done, ${failed} failed, ${unknown} unknown`;
}

function left(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 120) return `${whole} s`;
  return whole < 7200 ? `${Math.ceil(whole / 60)} min` : `${Math.ceil(whole / 3600)} h`;
}
