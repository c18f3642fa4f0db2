/**
 * Getting in, while the rest of the page is still being loaded: the ticket leaves the address before anything else happens and
 * becomes a session of two halves, one in the storage of the tab, the other a cookie that no script reads.
 */
import { ADMIN_PATH, PAGE_HALF_HEADER } from '../contract/sandbox/basis.ts';

export const KEPT = 'half';
export const ACCESS = 'access';

/** An answer that is no good one. */
export class Failed extends Error {
  readonly status: number;
  /** Field of the form that it names. */
  readonly field: string | undefined;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
    this.field = /^(?:no |one of )?(\w+)(?:\.\w+)*:? /.exec(message)?.[1];
  }
}

/** No answer came: the server is gone, or what was sent has an unknown outcome. */
export class NoAnswer extends Error {}

/** Starts the server where this page asks for it: at another port nobody finds it from here. */
export const START = `cardwright sandbox start --port ${location.port}`;

/** The ticket of an address that `sandbox open --print` has printed. */
export const ticketIn = (address: string): string | undefined => /#t=([\w-]+)/.exec(address)?.[1];

/** Nobody reads it in the history. One that leads to no view of its own leads back to where the page was. */
export function hideTicket(before = ''): void {
  const to = new URLSearchParams(location.hash.slice(1)).get('to') ?? '/';
  history.replaceState(history.state, '', to === '/' ? before || '#/' : `#${to}`);
}

/** Makes a session of a ticket. Throws what the server says, in words for a person. */
export async function redeem(ticket: string): Promise<void> {
  const response = await send('POST', '/page/session', null, { ticket }).catch(() => {
    throw new NoAnswer(`The sandbox does not answer. Start it: ${START}`);
  });
  if (response.status === 403) throw new Failed(403, 'The sandbox has made no ticket yet. Run the command first.');
  const answer = (await response.json().catch(() => ({}))) as Readonly<Record<string, string>>;
  if (!response.ok) throw new Failed(response.status, answer['message'] ?? `The sandbox answered ${response.status}.`);
  sessionStorage.setItem(KEPT, answer['half'] ?? '');
  sessionStorage.setItem(ACCESS, answer['access'] ?? 'look');
}

/** What is asked for before the page is there, by its path: whoever asks for it first gets that answer. */
const asked = new Map<string, Promise<Response>>();

/** One request with the half that is given. Rejects where no answer comes. */
export function send(method: string, path: string, half: string | null, body?: object, signal?: AbortSignal) {
  const early = asked.get(path);
  asked.delete(path);
  if (early !== undefined) return early;
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

/**
 * What became of the ticket of the address: an empty text where it is a session now, else why not; undefined where there was
 * none. With a session it asks for what every page shows first.
 */
async function enter(): Promise<string | undefined> {
  const ticket = ticketIn(location.hash);
  if (ticket !== undefined) hideTicket();
  const told =
    ticket &&
    (await redeem(ticket).then(
      () => '',
      (error: unknown) => (error as Error).message,
    ));
  const half = sessionStorage.getItem(KEPT);
  const first = /^#?\/?$/.test(location.hash) ? ['/overview', '/marks'] : ['/marks'];
  if (half !== null) for (const path of first) asked.set(path, send('GET', path, half));
  return told;
}

export const entered = enter();
