/** Open authorizations in a journal: their money stands in an account below that of the card. */
import type { OpenHold, StatementAccount } from '../books/statement-model.ts';
import { ledgerName } from './account-names.ts';
import type { AccountsFile } from './accounts-file.ts';

/** Where money of an account stands that open authorizations hold. */
export function holdsName(account: StatementAccount, file: AccountsFile): string {
  return `${ledgerName(account, file)}:Holds`;
}

export class PendingByCard {
  readonly #byCard = new Map<string | null, OpenHold[]>();

  constructor(holds: readonly OpenHold[]) {
    for (const hold of holds) {
      const known = this.#byCard.get(hold.card_id);
      if (known === undefined) this.#byCard.set(hold.card_id, [hold]);
      else known.push(hold);
    }
  }

  of({ card_id }: StatementAccount): readonly OpenHold[] {
    return this.#byCard.get(card_id) ?? [];
  }

  /** Integer cents. */
  sum(account: StatementAccount): number {
    return this.of(account).reduce((sum, { cents }) => sum + cents, 0);
  }
}
