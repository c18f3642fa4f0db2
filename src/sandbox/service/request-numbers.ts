/** Numbers of requests that write nothing, taken from the store in blocks so that each is given out once. */
import { takeCounts } from '../store/counters.ts';
import type { Store } from '../store/sql.ts';

const LARGEST = 1024;

export class RequestNumbers {
  #next = 0;
  #end = 0;
  #size = 1;
  #taking: Promise<void> | undefined;

  /** The next number where it is at hand. */
  ready(): number | undefined {
    return this.#next < this.#end ? ++this.#next : undefined;
  }

  /** The next number, from 1. The first blocks are small: most commands make one request. */
  async next({ store, account }: { readonly store: Store; readonly account: string }): Promise<number> {
    while (this.#next >= this.#end) {
      this.#taking ??= this.#take(store, account).finally(() => {
        this.#taking = undefined;
      });
      await this.#taking;
    }
    return ++this.#next;
  }

  /** Forgets what is left, because the store's counters begin anew. */
  forget(): void {
    this.#next = this.#end;
    this.#size = 1;
  }

  async #take(store: Store, account: string): Promise<void> {
    const size = this.#size;
    const last = await store.write(sql => takeCounts(sql, account, { name: 'req', count: size }));
    this.#next = last - size;
    this.#end = last;
    this.#size = Math.min(LARGEST, size * 2);
  }
}
