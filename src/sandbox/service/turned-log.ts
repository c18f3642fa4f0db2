/**
 * Requests to the service that got no further than its door: another host, an unknown route, a wrong key. They are in no
 * store, because none of them was counted; this process remembers the newest.
 */

export interface TurnedAway {
  /** ms UTC, real time. */
  readonly at: number;
  readonly method: string;
  /** Without its query and without secrets. */
  readonly path: string;
  readonly status: number;
  readonly error: string;
  readonly why: string;
  /** Form of the key that came with it, never its text. */
  readonly key: string;
}

const MOST = 200;

export class TurnedLog {
  #kept: TurnedAway[] = [];
  #count = 0;

  /** How many there were, those that are forgotten too. */
  get count(): number {
    return this.#count;
  }

  keep(turned: TurnedAway): void {
    this.#count += 1;
    this.#kept.push(turned);
    if (this.#kept.length > MOST) this.#kept = this.#kept.slice(-MOST);
  }

  /** Newest first. */
  newest(): readonly TurnedAway[] {
    return [...this.#kept].reverse();
  }
}

/** What a header looks like: how it begins, and how long it is. */
export function keyForm(header: string | undefined): string {
  if (header === undefined) return 'none';
  const [, scheme = '', token] = /^(\S+) +(\S+)$/.exec(header) ?? [];
  if (token === undefined) return 'not of the form: Bearer <key>';
  if (!/^bearer$/i.test(scheme)) return 'not a Bearer key';
  const prefix = /^(?:sk_test_|sk_live_|whsec_|sandbox_)/.exec(token)?.[0];
  return `${prefix ?? 'another beginning,'}${prefix === undefined ? ' ' : '…, '}${token.length} characters`;
}
