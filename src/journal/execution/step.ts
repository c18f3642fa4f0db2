/**
 * The steps of one row, as docs/design/reliability.md draws them (section 6, "Steps of a row"). Each step does its work
 * and names the next one; `execute-row.ts` goes from one to the next.
 */
import type { Delivery } from '../../contract/service.ts';
import type { RowOutcome } from '../row-outcome.ts';
import type { Balances, SendPermit } from '../types.ts';
import type { RowOwner } from './run-context.ts';

export const STEP_NAMES = ['begin', 'prepare', 'send', 'answer', 'reconcile', 'end'] as const;

/** What the caller of a row hands in. */
export interface Performing {
  /** Card and wallet just before, as the caller has read them. */
  readonly before?: Balances | undefined;
  readonly permit?: SendPermit | undefined;
}

export interface Sending extends Performing {
  /** Bytes of this attempt may have left before: only an answer given after the key was looked up decides the row. */
  readonly resent: boolean;
  readonly keyHonoured: boolean;
  /** Nothing but looks that showed nothing makes it safe to send it again: the end of the run looks whether it was done twice. */
  readonly onCheck?: true | undefined;
}

export interface Answered {
  readonly delivery: Delivery;
  readonly sending: Sending;
  /** The quiet period of every sending before this one was over when it left. */
  readonly quiet: boolean;
}

/** How far reconciling may go. */
export interface Reconciling {
  /** There is time to wait for the end of the quiet period. */
  readonly mayWait: boolean;
  readonly mayResend: boolean;
  /** See `RowOwners`. */
  readonly owner?: RowOwner | undefined;
  readonly permit?: SendPermit | undefined;
  /** The service asked to slow down just before. */
  readonly throttled?: boolean | undefined;
  /** The card was in the wanted state before and the answer says in words that it failed: the state shows nothing. */
  readonly failedInWords?: boolean | undefined;
}

/** What happens to a row next. */
export type Step =
  | { readonly name: 'begin' }
  /** `anew`: what was read before is old by now. */
  | { readonly name: 'prepare'; readonly anew?: true }
  | { readonly name: 'send'; readonly sending: Sending }
  | { readonly name: 'answer'; readonly answered: Answered }
  | { readonly name: 'reconcile'; readonly reconciling: Reconciling }
  | { readonly name: 'end'; readonly outcome: RowOutcome };

export function ended(outcome: RowOutcome): Step {
  return { name: 'end', outcome };
}

/** Right after a failure there is no time to wait, but the effect may show already. */
export function reconcileOnce(throttled?: boolean, failedInWords?: boolean): Step {
  const policy = { throttled: throttled || undefined, failedInWords: failedInWords || undefined };
  return { name: 'reconcile', reconciling: { mayWait: false, mayResend: false, ...policy } };
}
