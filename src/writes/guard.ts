/**
 * The live guard of docs/design/cli.md, "Guards": what must have been said before a request with an effect may leave.
 */
import type { Effect } from '../contract/operation.ts';
import { CliError, type ErrorFacts } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import { type LimitSource, limitRefusal } from '../limits/limits.ts';

/** What help, `help safety` and `docs/guide/service.md` say of freezing with a live key; `guardEffect` keeps it. */
export const FREEZING_ASKS =
  'Freezing cards by their ids is the safe direction: with a live key it asks no question at a terminal, and needs only --live in a script. A file or a condition asks as for any change.';

/** Whether a person must still be asked. */
export type GuardDecision = 'go' | 'ask';

export interface GuardQuestion {
  readonly identity: Identity;
  readonly effect: Effect;
  /** Freezing cards that were named is the safe direction. */
  readonly safeDirection: boolean;
  /** Nothing may be changed, and what says so. */
  readonly readOnly: LimitSource | undefined;
  readonly canAsk: boolean;
  readonly yes: boolean;
  /** `--live`. */
  readonly live: string | undefined;
}

/**
 * Returns whether a person must still be asked. Throws `guarded` (14) when a live write was not named, when the
 * profile is read-only or `--live` names another profile than the resolved one; nothing was sent.
 */
export function guardEffect(question: GuardQuestion): GuardDecision {
  const { identity, effect, live } = question;
  if (effect === 'read') return 'go';
  if (question.readOnly !== undefined && effect !== 'reveals-secret') {
    throw limitRefusal('read_only', question.readOnly, 'true, and nothing may be changed');
  }
  if (live !== undefined && live !== identity.profile) {
    const message = `--live names ${live}, but this run uses ${identity.profile}`;
    throw guarded('another_profile', { message, hint: 'cardwright whoami' });
  }
  if (identity.mode !== 'live') return 'go';
  if (question.canAsk && !question.yes) return question.safeDirection ? 'go' : 'ask';
  if (question.canAsk) return 'go';
  const missing = [
    ...(live === undefined ? [`--live ${identity.profile}`] : []),
    ...(question.yes || question.safeDirection ? [] : ['--yes']),
  ];
  if (missing.length === 0) return 'go';
  const message = `a live key needs ${missing.join(' and ')} for this when nobody can be asked`;
  throw guarded('live_key', { message });
}

function guarded(reason: string, words: Pick<ErrorFacts, 'message' | 'hint'>): CliError {
  return new CliError('guarded', { ...words, reason, outcome: 'not_sent' });
}
