/**
 * Cards of an account in which no card shows any metadata: each may be one that another machine has made for this fleet,
 * with a marker that the service does not show.
 */
import { type ListedCard, namedIds } from './account.ts';
import type { Fleet } from './fleet-file.ts';

/** Takes every card of the list. */
export class UnmarkedCards {
  readonly #named: ReadonlySet<string>;
  readonly #byLabel = new Map<string, string>();
  #isShown = false;

  constructor(fleet: Fleet) {
    this.#named = namedIds(fleet);
  }

  add({ id, status, label, metadata }: ListedCard): void {
    if (Object.keys(metadata ?? {}).length > 0) {
      this.#isShown = true;
      this.#byLabel.clear();
    }
    if (this.#isShown || status === 'terminated' || this.#named.has(id)) return;
    const text = label ?? '';
    const known = this.#byLabel.get(text);
    if (known === undefined || id < known) this.#byLabel.set(text, id);
  }

  /** Id of a card with this label that the file does not name; undefined where some card shows metadata. */
  withLabel(label: string): string | undefined {
    return this.#byLabel.get(label);
  }
}
