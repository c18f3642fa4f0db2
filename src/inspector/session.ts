/**
 * Speaking to the sandbox with a session of two halves: this one in the storage of the tab, the other a cookie that no
 * script reads. The ticket leaves the address before anything else happens.
 */
import { ADMIN_PATH, PAGE_HALF_HEADER } from '../contract/sandbox/basis.ts';
import type { PageAccess } from '../contract/sandbox/page.ts';
import type { Input } from './command-line.ts';
import { rowOf } from './tables.ts';

const KEPT = 'half';
const ACCESS = 'access';

/** An answer that is no good one. */
export class Failed extends Error {
  readonly status: number;
  /** Field of the form that it names. */
  readonly field: string | undefined;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
    this.field = /^(\w+)(?:\.\w+)*:? /.exec(message)?.[1];
  }
}

/** No answer came: the server is gone, or what was sent has an unknown outcome. */
export class NoAnswer extends Error {}

export const accessOf = (): PageAccess => (sessionStorage.getItem(ACCESS) === 'look' ? 'look' : 'full');

/** Takes the ticket out of the address and makes a session of it; else takes the half that another tab has. */
export async function begin(): Promise<boolean> {
  const given = new URLSearchParams(location.hash.slice(1));
  const ticket = given.get('t');
  if (ticket !== null) {
    history.replaceState(null, '', `#${given.get('to') ?? '/'}`);
    const response = await send('POST', '/page/session', { ticket });
    if (response.ok) {
      const { half, access } = (await response.json()) as { readonly half: string; readonly access: string };
      sessionStorage.setItem(KEPT, half);
      sessionStorage.setItem(ACCESS, access);
      tell();
    }
  }
  return sessionStorage.getItem(KEPT) !== null || hasOther(null);
}

/** ms in which another tab answers, if there is one and it is not busy. */
const PATIENCE = 150;

interface Told {
  readonly asks?: true;
  readonly half?: string;
  readonly access?: string;
}

/** Tabs of this origin give each other the half; it goes nowhere else. */
const tabs = new BroadcastChannel('cardwright');
/** Halves of sessions that are over. */
const over = new Set<string>();
let asksUntil = 0;
let onLateHalf = (): void => undefined;

/** Calls this when another tab gives its half to this one after it was given up: it may have been busy for long. */
export function whenGivenLate(listener: () => void): void {
  onLateHalf = listener;
}

tabs.onmessage = ({ data: { asks, half, access } }: MessageEvent<Told>) => {
  if (asks === true) tell();
  if (half === undefined || over.has(half)) return;
  const isLate = performance.now() > asksUntil;
  const own = sessionStorage.getItem(KEPT);
  if (isLate && own !== null && !over.has(own)) return;
  sessionStorage.setItem(KEPT, half);
  sessionStorage.setItem(ACCESS, access ?? 'look');
  if (isLate) onLateHalf();
};

function tell(): void {
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

/** Nothing of the session stays in this tab. */
export function forget(): void {
  sessionStorage.removeItem(KEPT);
  sessionStorage.removeItem(ACCESS);
}

function send(method: string, path: string, body?: Input, signal?: AbortSignal): Promise<Response> {
  const half = sessionStorage.getItem(KEPT);
  return fetch(ADMIN_PATH + path, {
    method,
    mode: 'same-origin',
    cache: 'no-store',
    ...(signal && { signal }),
    headers: {
      ...(half !== null && { [PAGE_HALF_HEADER]: half }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

let actedAt = Number.NEGATIVE_INFINITY;

/** When this page has last changed something, ms of the page. */
export const lastActAt = (): number => actedAt;

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
  const ask = () =>
    send(method, address, hasBody ? partOf('body') : undefined, signal).catch((error: unknown) => {
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
