/** The questions before a change: yes or no, or something typed where it cannot be undone or the key is live. */
import { CliError } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import type { PreparedRun } from '../journal/types.ts';
import type { Prompts } from '../terminal/prompts.ts';

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
  /** The command with `--yes`, for where nobody can be asked. */
  readonly command: string;
}

/** Resolves when the answer is yes. Throws `not_confirmed`; nothing was sent. */
export async function confirmWithPerson({ identity, prompts, canAsk }: Asker, question: ChangeQuestion): Promise<void> {
  const { intent, facts = [], irreversible = false, typed, command } = question;
  if (!canAsk) throw cannotConfirm(intent, command);
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
export function cannotConfirm(intent: string, command: string): CliError {
  return new CliError('not_confirmed', {
    message: `${intent}: this needs a confirmation, but nobody can be asked here`,
    hint: command,
    reason: 'nobody_to_ask',
    outcome: 'not_sent',
  });
}

/** Says in a dry run that other persons would have to approve the plan. */
export async function tellPending(notice: (text: string) => void, { held }: Pick<PreparedRun, 'held'>): Promise<void> {
  const why = await held();
  if (why !== undefined) notice(`This would be held for approval (exit code 17): ${why}.`);
}
