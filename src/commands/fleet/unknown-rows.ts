/** Names of a fleet of which this machine has an operation without a known outcome. */
import type { Account } from '../../fleet/account.ts';
import type { Fleet } from '../../fleet/fleet-file.ts';
import { createChain, type Scope } from '../../fleet/keys.ts';
import { matchCards } from '../../fleet/match.ts';
import type { Locked } from '../../fleet/step.ts';
import type { OpRow } from '../../journal/types.ts';
import type { UnknownRow } from './fleet-journal.ts';

/** Each name once, with the operation that would settle it. */
export function lockedNames(unknown: readonly UnknownRow[], around: Around): readonly Locked[] {
  if (unknown.length === 0) return [];
  const nameOf = namesBy(around);
  const locked = new Map<string, string>();
  for (const { op, row } of unknown) {
    const name = nameOf(row);
    if (name !== undefined) locked.set(name, op);
  }
  return [...locked].map(([name, op]) => ({ name, op })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

interface Around {
  readonly fleet: Fleet;
  readonly account: Account;
  readonly scope: Scope;
}

/** By the card of a row, or by the key of a create. */
function namesBy({ fleet, account, scope }: Around): (row: OpRow) => string | undefined {
  const { matched, left } = matchCards(fleet, account);
  const names = new Map<string, string>();
  for (const { wish, present, predecessors, highest } of matched) {
    names.set(createChain(scope, wish.name, highest + 1), wish.name);
    for (const card of [...(present === undefined ? [] : [present]), ...predecessors]) names.set(card.id, wish.name);
  }
  for (const card of left) if (card.mark !== undefined) names.set(card.id, card.mark.name);
  return ({ cardId, idempotencyKey }) => names.get(cardId ?? '') ?? names.get(idempotencyKey?.split('.')[0] ?? '');
}
