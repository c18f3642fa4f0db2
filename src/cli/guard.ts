/**
 * The live guard of docs/design/cli.md, "Guards": what must have been said before a request with an effect may leave.
 */
import type { Effect } from '../contract/operation.ts';
import { CliError } from '../core/errors.ts';
import type { Identity } from './identity.ts';

/** What help, `help safety` and `docs/guide/service.md` say of freezing with a live key; `guardEffect` keeps it. */
export const FREEZING_ASKS =
  'Freezing cards by their ids is the safe direction: with a live key it asks no question at a terminal, and needs only --live in a script. A file or a condition asks as for any change.';

export interface GuardQuestion {
  readonly identity: Identity;
  readonly effect: Effect;
  /** Freezing cards that were named is the safe direction. */
  readonly safeDirection: boolean;
  /** Profile setting: nothing may be changed. */
  readonly readOnly: boolean;
  readonly canAsk: boolean;
  readonly yes: boolean;
  /** `--live`. */
  readonly live: string | undefined;
}

/**
 * Returns whether a person must still be asked. Throws `guarded` (14) when a live write was not named, when the
 * profile is read-only or `--live` names another profile than the resolved one; nothing was sent.
 */
export function guardEffect(question: GuardQuestion): 'go' | 'ask' {
  const { identity, effect, live } = question;
  if (effect === 'read') return 'go';
  if (question.readOnly && effect !== 'reveals-secret') {
    throw guarded(
      `profile ${identity.profile} is read-only`,
      `cardwright profiles set ${identity.profile} read_only false`,
    );
  }
  if (live !== undefined && live !== identity.profile) {
    throw guarded(`--live names ${live}, but this run uses ${identity.profile}`, 'cardwright whoami');
  }
  if (identity.mode !== 'live') return 'go';
  if (question.canAsk && !question.yes) return question.safeDirection ? 'go' : 'ask';
  if (question.canAsk) return 'go';
  const missing = [
    ...(live === undefined ? [`--live ${identity.profile}`] : []),
    ...(question.yes || question.safeDirection ? [] : ['--yes']),
  ];
  if (missing.length === 0) return 'go';
  throw guarded(`a live key needs ${missing.join(' and ')} for this where nobody is asked`, undefined);
}

function guarded(message: string, hint: string | undefined): CliError {
  return new CliError('guarded', { message, outcome: 'not_sent', ...(hint === undefined ? {} : { hint }) });
}
