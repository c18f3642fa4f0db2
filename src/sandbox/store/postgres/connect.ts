/** Connections to the one database of a process: few, lent out one at a time. */
import type { PostgresPipeline } from '../../../postgres/client.ts';

/** Enough for a writer and readers beside it; each costs the server a process. */
const MOST = 4;

export class Connections {
  readonly #open: () => Promise<PostgresPipeline>;
  readonly #idle: PostgresPipeline[] = [];
  readonly #waiting: ((place: undefined) => void)[] = [];
  #places = MOST;
  #isClosed = false;

  constructor(open: () => Promise<PostgresPipeline>) {
    this.#open = open;
  }

  /** A connection that belongs to the caller until it is given back. Rejects when none can be opened. */
  async take(): Promise<PostgresPipeline> {
    if (this.#places === 0) await new Promise<undefined>(resolve => this.#waiting.push(resolve));
    else this.#places -= 1;
    try {
      if (this.#isClosed) throw new Error('the store is closed');
      for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
        if (idle.alive) return idle;
      }
      return await this.#open();
    } catch (error) {
      this.#free();
      throw error;
    }
  }

  /** One that is in the middle of something must not be given back, but ended. */
  give(connection: PostgresPipeline): void {
    if (connection.alive && !this.#isClosed) this.#idle.push(connection);
    else void connection.end().catch(() => undefined);
    this.#free();
  }

  /** Ends what is idle; what is lent out is ended when it comes back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#idle.splice(0).map(each => each.end().catch(() => undefined)));
  }

  #free(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#places += 1;
    else next(undefined);
  }
}
