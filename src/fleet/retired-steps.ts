/** Cards that were retired by their ids: frozen, drained, and terminated when their quarantine is over. */
import { DAY } from '../core/durations.ts';
import { toUsd } from '../core/money.ts';
import type { CardRecords, ObservedCard } from './account.ts';
import type { Retired } from './fleet-file.ts';
import { withdrawChain } from './keys.ts';
import type { Candidate, PlanInput } from './plan-input.ts';
import { stateDigest } from './state-digest.ts';

interface RetiredPlan {
  readonly candidates: readonly Candidate[];
  readonly notes: readonly string[];
}

/** The steps of every line of `retired`. */
export function planRetired(input: PlanInput): RetiredPlan {
  const candidates: Candidate[] = [];
  const notes: string[] = [];
  for (const retired of input.fleet.retired) {
    const card = input.account.cards.get(retired.card);
    if (card === undefined) continue;
    const name = card.mark?.fleet === input.fleet.name ? card.mark.name : card.id;
    const found = stepOf(input, retired, { card, name });
    if (typeof found === 'string') notes.push(found);
    else if (found !== undefined) candidates.push(found);
  }
  return { candidates, notes };
}

interface Named {
  readonly card: ObservedCard;
  readonly name: string;
}

/** One candidate, or what is said in its place. */
function stepOf(input: PlanInput, retired: Retired, { card, name }: Named): Candidate | string | undefined {
  const { id, last4, status, balance } = card;
  const on = { name, card: id, last4 };
  if (status === 'terminated') return `retired: ${id} is terminated; delete the line`;
  if (status !== 'frozen') return { step: { do: 'freeze', ...on, why: 'retired', seen: stateDigest(card) } };
  const records = input.records.get(id);
  // What was not read is not known to be at rest.
  if (records === undefined) return undefined;
  if (isQuarantineOver(input, retired, records)) {
    const seen = stateDigest(card);
    const step = { do: 'terminate', ...on, why: 'quarantine_over', returns: toUsd(balance), seen } as const;
    return { step, class: 'terminate', removes: true };
  }
  if (!retired.drain || records.holdsOpen || balance <= 0) return undefined;
  const transaction = records.newest;
  const chain = withdrawChain(input.scope, { card: id, balance, transaction, amount: balance });
  const seen = { balance: toUsd(balance), transaction };
  return { step: { do: 'withdraw', ...on, amount: toUsd(balance), key: `${chain}.1`, why: 'drain', seen } };
}

/** By the day in the file and by the account: a day that was put too early is caught by what the card did since. */
function isQuarantineOver(
  { fleet, account }: PlanInput,
  { since }: Retired,
  { holdsOpen, lastUse }: CardRecords,
): boolean {
  const span = fleet.quarantineDays * DAY;
  if (Date.parse(`${since}T00:00:00Z`) + span > account.now || holdsOpen) return false;
  return lastUse === undefined || lastUse <= account.now - span;
}
