/** Whether anything changed: one small question again and again, and whoever shows something asks anew when it did. */

import type { Input } from './command-line.ts';
import { useLayoutEffect, useRef, useState } from './elements.ts';
import { callRow, Failed, forget, lastActAt, NoAnswer } from './session.ts';

export interface Marks {
  readonly version: string;
  /** How often everything was replaced. */
  readonly replaced: number;
  readonly changes: string;
  readonly now: string;
  readonly mode: string;
  readonly rate: number;
  readonly faults: number;
  readonly ledger_ok: boolean | null;
}

/**
 * So many times as long as an answer took nothing more is asked: who writes has the server nearly to himself. What was done
 * in this page is shown at once.
 */
const REST = 20;

export type Link = 'beginning' | 'live' | 'stopped' | 'over';

export interface Live {
  readonly link: Link;
  readonly marks: Marks | undefined;
  /** When the marks came, ms of the page. */
  readonly at: number;
}

/** ms between questions: while something goes on, after a quiet minute, and behind each failure. */
const BUSY = 500;
const QUIET = 2_000;
const QUIET_AFTER = 60_000;
const AGAIN = [1_000, 2_000, 5_000] as const;

let live: Live = { link: 'beginning', marks: undefined, at: 0 };
const listeners = new Set<() => void>();

function tell(next: Live): void {
  live = next;
  for (const listener of [...listeners]) listener();
}

/** Nothing of the store stays in the document. */
export function endSession(): void {
  forget();
  tell({ link: 'over', marks: undefined, at: performance.now() });
}

/** Asks until the session is over; never while nobody sees the page. */
export async function watch(): Promise<void> {
  let changedAt = performance.now();
  let failures = 0;
  while (live.link !== 'over') {
    if (document.hidden) await seen();
    try {
      const marks = await callRow<Marks>('marks');
      if (marks.changes !== live.marks?.changes) changedAt = performance.now();
      failures = 0;
      tell({ link: 'live', marks, at: performance.now() });
    } catch (error) {
      if (error instanceof Failed && (error.status === 401 || error.status === 403)) return endSession();
      tell({ ...live, link: 'stopped' });
      failures += 1;
    }
    const isQuiet = performance.now() - changedAt > QUIET_AFTER;
    const pause = failures > 0 ? (AGAIN[Math.min(failures, AGAIN.length) - 1] ?? QUIET) : isQuiet ? QUIET : BUSY;
    await new Promise(resolve => setTimeout(resolve, pause));
  }
}

function seen(): Promise<void> {
  return new Promise(resolve => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true });
  });
}

export function useLive(): Live {
  const [shown, show] = useState(live);
  useLayoutEffect(() => {
    const listener = () => show(live);
    listeners.add(listener);
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return shown;
}

export interface Answered<Answer> {
  /** The newest answer; it stays while the server is gone. */
  readonly data: Answer | undefined;
  readonly error: Error | undefined;
}

/** What a row answers, asked anew after every change once the answer before it is there; `paused` keeps what is there. */
export function useRow<Answer>(name: string, input: Input = {}, paused = false): Answered<Answer> {
  const { marks, link } = useLive();
  const question = JSON.stringify([name, input]);
  const [told, tellIt] = useState<Answered<Answer> & { readonly of: string }>({
    data: undefined,
    error: undefined,
    of: question,
  });
  const changes = useRef(marks?.changes);
  const restsUntil = useRef(0);
  const askedAt = useRef(0);
  const rests = performance.now() < restsUntil.current && lastActAt() < askedAt.current;
  if (!paused && !rests) changes.current = marks?.changes;
  // Asked at once, and not when the first picture stands.
  useLayoutEffect(() => {
    const given = new AbortController();
    const began = performance.now();
    askedAt.current = began;
    restsUntil.current = Number.POSITIVE_INFINITY;
    const rest = () => {
      const now = performance.now();
      restsUntil.current = now + (now - began) * REST;
    };
    callRow<Answer>(name, input, given.signal).then(
      data => {
        if (given.signal.aborted) return;
        rest();
        tellIt({ data, error: undefined, of: question });
      },
      (error: unknown) => {
        if (given.signal.aborted) return;
        rest();
        if (error instanceof Failed && error.status === 401) endSession();
        else if (error instanceof NoAnswer) tellIt(before => ({ ...before, error: undefined }));
        else tellIt({ data: undefined, error: error as Error, of: question });
      },
    );
    return () => given.abort();
  }, [question, changes.current, link === 'stopped']);
  return told.of === question ? told : { data: undefined, error: undefined };
}
