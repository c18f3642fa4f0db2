/** Which amounts of other spenders are not certain, because holds may have had a part of them. */
import { type Finding, isOfOthers } from './finding.ts';
import type { CardChange } from './residuals.ts';
import type { Unexplained } from './unexplained.ts';

/**
 * The findings, with those marked whose amount may have been another. `rest` is what they leave. An amount is certain where
 * its card has no hold to hide a part, where nothing else could have the difference, or where all of them leave no cent.
 */
export function withUncertain(findings: readonly Finding[], rest: Unexplained): readonly Finding[] {
  const named = findings.filter(isMove);
  const blurred = [...rest.changes.values()].filter(each => isBlurred(each, rest));
  const wallet = rest.fromWallet();
  const isWalletBlurred = wallet.least < wallet.most;
  const leavesNothing = rest.wallet === 0 && named.every(each => each.candidates.every(card => rest.of(card) === 0));
  if (leavesNothing || blurred.length + Number(isWalletBlurred) < 2) return findings;
  const cards = new Set(blurred.map(({ card_id }) => card_id));
  const isProvisional = [...rest.changes.values()].some(
    each => isOpen(each) && (each.isOver || cards.has(each.card_id)),
  );
  return findings.map(each =>
    isMove(each) && each.candidates.some(card => cards.has(card))
      ? { ...each, isAbout: true, isProvisional: each.isProvisional || isProvisional }
      : each,
  );
}

/** What an ended card gave back is seen in the wallet alone and has findings of its own. */
function isMove(found: Finding): boolean {
  return isOfOthers(found) && found.class !== 'other_terminated';
}

function isBlurred({ card_id, isOver, low, high }: CardChange, rest: Unexplained): boolean {
  return !isOver && low < high && rest.isTouched(card_id);
}

/** A purchase on it may still close, and show what was held. */
export function isOpen({ low, high }: CardChange): boolean {
  return high > 0 || low === -Infinity;
}
