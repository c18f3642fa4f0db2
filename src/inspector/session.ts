/** Speaking to the sandbox with the session of this tab, or of another one, and asking anew when something changed. */
import type { ReplyOf } from '../contract/operation.ts';
import type { AdminName, AdminOperations } from '../contract/sandbox/admin.ts';
import type { PageAccess } from '../contract/sandbox/page.ts';
import { ACCESS, entered, Failed, KEPT, NoAnswer, redeem, send } from './begin.ts';
import { useLayoutEffect, useRef, useState } from './elements.ts';
import { type Input, rowOf } from './tables.ts';

export const accessOf = (): PageAccess => (sessionStorage.getItem(ACCESS) === 'look' ? 'look' : 'full');

/** False while the server is gone, and where the session may only look. */
export const useCanChange = (): boolean => useLive().link === 'live' && accessOf() === 'full';

/** Goes on with the session that was made of a ticket or kept by this tab; else with the half that another tab has. */
async function begin(): Promise<void> {
  const told = await entered;
  if (told === '') shareHalf();
  if (sessionStorage.getItem(KEPT) !== null || (await hasOther(null))) void watch();
  else endSession(told);
}

/** Makes a session of a ticket while the page is open. One that is good for nothing leaves the session that there is. */
export async function enter(ticket: string): Promise<void> {
  try {
    await redeem(ticket);
  } catch (error) {
    if (live.link === 'over') endSession((error as Error).message);
    return;
  }
  shareHalf();
  goOn();
}

function goOn(): void {
  publish({ link: 'beginning', marks: undefined, at: performance.now() });
  void watch();
}

/** ms in which another tab answers, if there is one and it is not busy. */
const PATIENCE = 150;

/** Tabs of this origin give each other the half; it goes nowhere else. */
const tabs = new BroadcastChannel('cardwright');
/** Halves of sessions that are over. */
const over = new Set<string>();
let asksUntil = 0;

tabs.onmessage = ({ data: { asks, half, access } }: MessageEvent<{ asks?: true; half?: string; access?: string }>) => {
  if (asks === true) shareHalf();
  if (half === undefined || over.has(half)) return;
  const isLate = performance.now() > asksUntil;
  const own = sessionStorage.getItem(KEPT);
  if (isLate && own !== null && !over.has(own)) return;
  sessionStorage.setItem(KEPT, half);
  sessionStorage.setItem(ACCESS, access ?? 'look');
  // The tab that gives it was busy for long, and this one has given it up.
  if (isLate) goOn();
};

function shareHalf(): void {
  const half = sessionStorage.getItem(KEPT);
  if (half !== null && !over.has(half)) tabs.postMessage({ half, access: accessOf() });
}

/**
 * Whether another tab has another half than this one. A new ticket replaces the cookie of all tabs, so that the halves
 * from before are worth nothing.
 */
async function hasOther(half: string | null): Promise<boolean> {
  const isNew = () => ![half, null].includes(sessionStorage.getItem(KEPT));
  if (isNew()) return true;
  if (half !== null) over.add(half);
  asksUntil = performance.now() + PATIENCE;
  tabs.postMessage({ asks: true });
  while (!isNew() && performance.now() < asksUntil) await new Promise(resolve => setTimeout(resolve, 10));
  return isNew();
}

/** When this page has last changed something, ms of the page. */
let actedAt = Number.NEGATIVE_INFINITY;

/** Asks a row. Throws `Failed` with what the server says, `NoAnswer` where it says nothing. */
export async function callRow<Answer>(name: string, input: Input = {}, signal?: AbortSignal): Promise<Answer> {
  const { method, path, fields } = rowOf(name);
  const partOf = (part: string) =>
    Object.fromEntries(
      fields
        .filter(field => field.part === part && input[field.name] !== undefined && input[field.name] !== '')
        .map(({ name }) => [name, input[name]]),
    );
  const query = new URLSearchParams(partOf('query') as Record<string, string>).toString();
  const filled = path.replace(/\{(\w+)\}/g, (_, field: string) => encodeURIComponent(String(input[field])));
  const hasBody = fields.some(({ part }) => part === 'body');
  const address = query === '' ? filled : `${filled}?${query}`;
  await begun;
  if (live.link === 'over') throw new Failed(401, 'The session of this page is over.');
  const ask = () =>
    send(method, address, half, hasBody ? partOf('body') : undefined, signal).catch((error: unknown) => {
      if (signal?.aborted === true) throw error;
      throw new NoAnswer('No answer came.');
    });
  let half = sessionStorage.getItem(KEPT);
  let response = await ask();
  // Refused for its session, nothing was done: it is asked again with the session of another tab.
  while (response.status === 401 && (await hasOther(half))) {
    half = sessionStorage.getItem(KEPT);
    response = await ask();
  }
  if (response.ok && method !== 'GET') actedAt = performance.now();
  if (response.status === 204) return undefined as Answer;
  if (response.ok) {
    return response.json().catch((error: unknown) => {
      throw signal?.aborted === true ? error : new NoAnswer('The answer was cut off.');
    }) as Promise<Answer>;
  }
  const told = (await response.json().catch(() => ({}))) as { readonly message?: string };
  throw new Failed(response.status, told.message ?? `The sandbox answered ${response.status}.`);
}

// Whether anything changed: one small question again and again, and whoever shows something asks anew when it did.

export type Reply<Name extends AdminName> = ReplyOf<AdminOperations[Name]>;

/** One row of a list; of any other operation the whole answer. */
export type Told<Name extends AdminName> =
  Reply<Name> extends { readonly data: readonly (infer Item)[] } ? Item : Reply<Name>;

type Marks = Told<'marks'>;

/**
 * So many times as long as an answer took nothing more is asked: who writes has the server nearly to himself. What was done
 * in this page is shown at once.
 */
const REST = 20;

export interface Live {
  readonly link: 'beginning' | 'live' | 'stopped' | 'over';
  readonly marks: Marks | undefined;
  /** When the marks came, ms of the page. */
  readonly at: number;
  /** Why the newest ticket made no session. */
  readonly problem?: string;
  /** What came of the newest button, of which the row may be gone. */
  readonly said?: string;
}

/** ms between questions: while something goes on, after a quiet minute, and behind each failure. */
const BUSY = 500;
const QUIET = 2_000;
const QUIET_AFTER = 60_000;
const AGAIN = [1_000, 2_000, 5_000] as const;

let live: Live = { link: 'beginning', marks: undefined, at: 0 };
const listeners = new Set<() => void>();

function publish(next: Live): void {
  live = next;
  for (const listener of [...listeners]) listener();
}

/** Says in the header what came of a button. */
export function say(said: string): void {
  if (said !== (live.said ?? '')) publish({ ...live, said });
}

/** Nothing of the store stays in the document, and nothing of the session in this tab. */
export function endSession(problem = ''): void {
  sessionStorage.removeItem(KEPT);
  sessionStorage.removeItem(ACCESS);
  publish({ link: 'over', marks: undefined, at: performance.now(), problem });
}

let isWatching = false;

/** Asks until the session is over; never while nobody sees the page. */
async function watch(): Promise<void> {
  if (isWatching) return;
  isWatching = true;
  let changedAt = performance.now();
  let failures = 0;
  while (live.link !== 'over') {
    if (document.hidden)
      await new Promise(resolve => document.addEventListener('visibilitychange', resolve, { once: true }));
    try {
      const marks = await callRow<Marks>('marks');
      if (marks.changes !== live.marks?.changes) changedAt = performance.now();
      failures = 0;
      publish({ ...live, link: 'live', marks, at: performance.now() });
    } catch (error) {
      if (error instanceof Failed && (error.status === 401 || error.status === 403)) endSession();
      else publish({ ...live, link: 'stopped' });
      failures += 1;
    }
    const isQuiet = performance.now() - changedAt > QUIET_AFTER;
    const pause = failures > 0 ? (AGAIN[Math.min(failures, AGAIN.length) - 1] ?? QUIET) : isQuiet ? QUIET : BUSY;
    if (live.link === 'live' || live.link === 'stopped') await new Promise(resolve => setTimeout(resolve, pause));
  }
  isWatching = false;
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

interface Answered<Answer> {
  /** The newest answer; it stays while the server is gone or busy, with the forms in it. */
  readonly data: Answer | undefined;
  readonly error: Error | undefined;
}

/** That the server could not do it now: it may in a moment. */
const isForNow = (error: Error | undefined) => error instanceof Failed && error.status >= 500;

/**
 * What a row answers, asked anew after every change once the answer before it is there, and at the next poll where the
 * server could not answer; `paused` keeps what is there.
 */
export function useRow<Answer>(name: string, input: Input = {}, paused = false): Answered<Answer> {
  const { marks, link, at } = useLive();
  const question = JSON.stringify([name, input]);
  const nothing = { data: undefined, error: undefined, of: question };
  const [told, tellIt] = useState<Answered<Answer> & { readonly of: string }>(nothing);
  const changes = useRef(marks?.changes);
  const restsUntil = useRef(0);
  const askedAt = useRef(0);
  const rests = performance.now() < restsUntil.current && actedAt < askedAt.current;
  const again = useRef(0);
  if (!paused && !rests) {
    changes.current = marks?.changes;
    if (isForNow(told.error)) again.current = at;
  }
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
        else
          tellIt(({ data, of }) => ({
            data: of === question && isForNow(error as Error) ? data : undefined,
            error: error as Error,
            of: question,
          }));
      },
    );
    return () => given.abort();
  }, [question, changes.current, again.current, link === 'stopped']);
  return told.of === question ? told : nothing;
}

/** Made while the views are: no row is asked before it is known whether there is a session. */
const begun = begin();
