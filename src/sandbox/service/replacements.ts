/** Counts how often everything that the store held was replaced, so that a page can say so. */
export class Replacements {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  happened(): void {
    this.#count += 1;
  }
}
