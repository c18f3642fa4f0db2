/**
 * The way into the inspector: tickets, sessions of two halves, and the files of the page. Nothing is there before the
 * first ticket. A cookie knows no port, and a script can read what it keeps itself: one half alone is worth nothing.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import {
  MOST_SESSIONS,
  type PageAccess,
  SESSION_LIFE,
  TICKET_LIFE,
  WRONG_TICKETS,
} from '../../contract/sandbox/page.ts';
import type { Clock, Randomness } from '../../platform/host.ts';

/** A file of the page, as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly text: string;
}

/** Files by name; `index.html` is the page itself. */
export type PageFiles = Readonly<Record<string, PageFile>>;

export interface PageHost {
  readonly clock: Pick<Clock, 'monotonic' | 'now'>;
  readonly random: Randomness;
  /** Read when the page is first asked for. */
  readonly files: () => PageFiles;
}

/** What a session is made of, once. */
export interface Redeemed {
  readonly half: string;
  readonly cookie: string;
  readonly access: PageAccess;
}

interface Ticket {
  readonly digest: Buffer;
  readonly access: PageAccess;
  /** By the clock that never jumps, ms. */
  readonly until: number;
  wrong: number;
}

interface Session {
  readonly cookie: Buffer;
  readonly half: Buffer;
  readonly access: PageAccess;
  readonly until: number;
}

export class PageDoor {
  readonly #host: PageHost;
  #files: PageFiles | undefined;
  #port: string | undefined;
  #ticket: Ticket | undefined;
  #sessions: Session[] = [];
  #isOpen = false;
  #opened = 0;

  constructor(host: PageHost) {
    this.#host = host;
  }

  /** Told where the server listens. */
  listensAt(port: string): void {
    this.#port = port;
  }

  /** A ticket was made since the server began: from then on it tells browsers more than no. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The one name by which a browser reaches the page. */
  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get cookieName(): string {
    return `cardwright-${this.#port}`;
  }

  /** A new ticket; one that waits is void. */
  ticket(access: PageAccess): { readonly ticket: string; readonly expiresAt: number } {
    const ticket = this.#secret();
    const { clock } = this.#host;
    this.#ticket = { digest: digestOf(ticket), access, until: clock.monotonic() + TICKET_LIFE, wrong: 0 };
    this.#isOpen = true;
    return { ticket, expiresAt: clock.now() + TICKET_LIFE };
  }

  /** Undefined for anything but the ticket that waits. */
  redeem(given: string): Redeemed | undefined {
    const ticket = this.#waiting();
    if (ticket === undefined) return undefined;
    if (!timingSafeEqual(digestOf(given), ticket.digest)) {
      ticket.wrong += 1;
      return undefined;
    }
    this.#ticket = undefined;
    this.#opened += 1;
    const [half, cookie] = [this.#secret(), this.#secret()];
    const until = this.#host.clock.monotonic() + SESSION_LIFE;
    const session = { half: digestOf(half), cookie: digestOf(cookie), access: ticket.access, until };
    this.#sessions = [...this.#sessions, session].slice(-MOST_SESSIONS);
    return { half, cookie, access: ticket.access };
  }

  /** What the session of these two halves may do; undefined where they belong to none, or to two. */
  admitted(half: string | undefined, cookies: string | undefined): PageAccess | undefined {
    const given = cookieNamed(this.cookieName, cookies);
    if (half === undefined || given === undefined) return undefined;
    const [left, right] = [digestOf(half), digestOf(given)];
    const isThis = (session: Session) => timingSafeEqual(session.half, left) && timingSafeEqual(session.cookie, right);
    return this.#live().find(isThis)?.access;
  }

  /** Ends everything; resolves to the number of sessions there were. */
  end(): number {
    const { length } = this.#live();
    this.#sessions = [];
    this.#ticket = undefined;
    return length;
  }

  /** Sessions that were ever made, those that are over too. */
  get opened(): number {
    return this.#opened;
  }

  get sessions(): number {
    return this.#live().length;
  }

  get ticketWaits(): boolean {
    return this.#waiting() !== undefined;
  }

  /** A file of the page by its path; undefined where there is none. */
  file(name: string): PageFile | undefined {
    this.#files ??= this.#host.files();
    return Object.hasOwn(this.#files, name) ? this.#files[name] : undefined;
  }

  #waiting(): Ticket | undefined {
    const ticket = this.#ticket;
    const isVoid =
      ticket === undefined || ticket.until <= this.#host.clock.monotonic() || ticket.wrong >= WRONG_TICKETS;
    if (isVoid) this.#ticket = undefined;
    return this.#ticket;
  }

  #live(): readonly Session[] {
    const now = this.#host.clock.monotonic();
    this.#sessions = this.#sessions.filter(({ until }) => until > now);
    return this.#sessions;
  }

  /** 192 random bits. */
  #secret(): string {
    return Buffer.from(this.#host.random.bytes(24)).toString('base64url');
  }
}

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** Undefined where it is missing, and where it stands twice: which of two counts is a matter of taste. */
function cookieNamed(name: string, header: string | undefined): string | undefined {
  const parts = (header ?? '').split(';').map(part => part.trim());
  const found = parts.filter(part => part.startsWith(`${name}=`));
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined;
}
