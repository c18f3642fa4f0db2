/**
 * What must have been said before a request with an effect may leave (docs/design/cli.md, "Guards"), and the questions that ask for
 * it: yes or no, or something typed where it cannot be undone or the key is live.
 */
import type { Effect } from '../contract/operation.ts';
import { CliError, type ErrorFacts } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import { sameCommandWith } from '../core/shell-quote.ts';
import type { PreparedRun } from '../journal/journal.ts';
import { type LimitSource, limitRefusal } from '../limits/limits.ts';
import type { Prompts } from '../terminal/prompts.ts';

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
  if (question.readOnly !== undefined && effect !== 'reveals-secret')
    throw limitRefusal('read_only', question.readOnly);
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

export interface Asker {
  readonly identity: () => Promise<Identity>;
  readonly prompts: Prompts;
  /** Questions are allowed, and stdin and stderr are terminals. */
  readonly canAsk: boolean;
}

export interface ChangeQuestion {
  /** What would be done: `Terminate card_1`. */
  readonly intent: string;
  /** What tells the target from others. */
  readonly facts?: readonly string[];
  readonly irreversible?: boolean;
  /** What is typed in place of yes. */
  readonly typed?: { readonly what: 'the last four digits' | 'their count'; readonly expect: string } | undefined;
}

/** Resolves when the answer is yes. Throws `not_confirmed`; nothing was sent. */
export async function confirmWithPerson({ identity, prompts, canAsk }: Asker, question: ChangeQuestion): Promise<void> {
  const { intent, facts = [], irreversible = false, typed } = question;
  if (!canAsk) throw cannotConfirm(intent);
  const { profile, mode } = await identity();
  const about = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const where = mode === 'live' ? ` with the live key of ${profile}` : '';
  const text = `${intent}${about}${where}?${irreversible ? ' This cannot be undone.' : ''}`;
  const answer =
    typed === undefined
      ? prompts.confirm(text, { flag: '--yes' })
      : prompts.typed(`${text} Type ${typed.what}`, { expect: typed.expect, flag: '--yes' });
  if (!(await answer)) throw declined();
}

/** The refusal of a person. */
export function declined(): CliError {
  return new CliError('not_confirmed', {
    message: 'not confirmed. Nothing was changed.',
    reason: 'declined',
    outcome: 'not_sent',
  });
}

/** The refusal where a confirmation is needed and stdin or stderr is no terminal. */
export function cannotConfirm(intent: string, command = sameCommandWith('--yes')): CliError {
  return new CliError('not_confirmed', {
    message: `${intent}: this needs a confirmation, but nobody can be asked here`,
    hint: command,
    reason: 'nobody_to_ask',
    outcome: 'not_sent',
  });
}

/** Says in a dry run that other persons would have to approve the plan. Throws what a claim of it would be refused for. */
export async function tellPending(notice: (text: string) => void, plan: Pick<PreparedRun, 'foresee'>): Promise<void> {
  const why = await plan.foresee();
  if (why !== undefined) notice(`This would be held for approval (exit code 17): ${why}.`);
}
