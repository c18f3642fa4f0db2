/** Pseudorandom numbers, millions of them, fixed by a seed: xorshift, 32 bits. Nothing secret is drawn from it. */
import { createHash } from 'node:crypto';

export class Draws {
  #state: number;

  constructor(seed: number) {
    this.#state = createHash('sha256').update(`${seed} draws`).digest().readUInt32BE() | 1;
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state;
    return (state >>> 0) % limit;
  }
}
