/** One action on one card or on several, with one result a card and one exit code for all. */

import type { WriteName } from '../contract/calls.ts';
import type { ValueOf } from '../contract/field.ts';
import { asCliError, CliError, ERROR_KINDS, type ErrorKind } from '../core/errors.ts';
import type { Row } from '../terminal/view.ts';
import type { Context } from './context.ts';
import { columnsOf, SHORT_ID } from './listing.ts';
import { maybe, tells } from './parsing/flag.ts';

export interface Attempts {
  readonly attempts: readonly Attempt[];
  readonly failure: CliError | undefined;
}

export const ATTEMPT_ROW = {
  card_id: tells.text('The card.'),
  outcome: tells.word('The outcome.', ['done', 'refused', 'unknown', 'not_sent']),
  changed: maybe(tells.yes('False if there was nothing to change.')),
  status: maybe(tells.text('Its status now.')),
  error: maybe(tells.text('Why it was not done.')),
  request_id: maybe(tells.text('Identifier of the request, for support.')),
} as const;

export type Attempt = ValueOf<typeof ATTEMPT_ROW>;

export const ATTEMPT_COLUMNS = columnsOf(ATTEMPT_ROW, 'card_id outcome changed:3 status:2 error:2 request_id:4', {
  card_id: { shortTo: SHORT_ID },
  status: { kind: 'word' },
});

/** Kinds after which the other cards would fare no better, or nothing may be sent any more. */
const STOPPING: readonly ErrorKind[] = [
  'not_authenticated',
  'guarded',
  'interrupted',
  'terminated',
  'internal',
  'not_confirmed',
];

/**
 * Runs `act` for each id in turn. A refused card does not keep the others from being tried; what stopped the run
 * does. The exit code is that of docs/design/cli.md, "Exit codes": unknown before stopped before partly failed.
 */
export async function forEachCard(
  ctx: Context,
  ids: readonly string[],
  act: (id: string) => Promise<{ readonly changed: boolean; readonly card: Row }>,
): Promise<Attempts> {
  const attempts: Attempt[] = [];
  const errors: CliError[] = [];
  for (const id of ids) {
    try {
      const { changed, card } = await act(id);
      attempts.push({ card_id: id, outcome: 'done', changed, status: String(card['status']) });
    } catch (thrown) {
      if (ctx.dryRun && thrown instanceof Error && thrown.name === 'DryRun') {
        if (id === ids.at(-1)) throw thrown;
        continue;
      }
      const error = asCliError(thrown);
      errors.push(error);
      attempts.push(failedAttempt(id, error));
      if (STOPPING.includes(error.kind)) break;
    }
  }
  return { attempts, failure: verdict(attempts, errors, ids.length) };
}

function failedAttempt(id: string, error: CliError): Attempt {
  const requestId = error.facts.service?.request_id;
  return {
    card_id: id,
    outcome: error.facts.outcome ?? 'not_sent',
    error: error.facts.service?.error ?? error.kind,
    ...(requestId === undefined ? {} : { request_id: requestId }),
  };
}

function verdict(attempts: readonly Attempt[], errors: readonly CliError[], asked: number): CliError | undefined {
  const [first] = errors;
  if (first === undefined) return undefined;
  const count = (outcome: Attempt['outcome']) => attempts.filter(attempt => attempt.outcome === outcome).length;
  const done = count('done');
  const unknown = count('unknown');
  const stopped = errors.find(({ kind }) => STOPPING.includes(kind));
  const kind: ErrorKind =
    unknown > 0
      ? 'outcome_unknown'
      : stopped && (done === 0 || ERROR_KINDS[stopped.kind].exit >= 130)
        ? stopped.kind
        : 'partly_failed';
  const started = attempts.length === asked ? '' : `, ${asked - attempts.length} not started`;
  const message = `${done} of ${asked} done, ${attempts.length - done - unknown} failed, ${unknown} unknown${started}`;
  const failed = attempts.filter(({ outcome }) => outcome !== 'done');
  const notes = errors.map((error, index) => `${failed[index]?.card_id ?? ''}: ${error.message}`);
  return new CliError(kind, {
    message,
    notes,
    outcome: unknown > 0 ? 'unknown' : 'refused',
    ...(first.facts.operation ? { operation: first.facts.operation } : {}),
  });
}

/** Asks once for several cards and returns whether each still has to be asked for. */
export async function confirmAll(ctx: Context, operation: WriteName, ids: readonly string[]): Promise<boolean> {
  if (ids.length < 2) return false;
  await ctx.ui.confirmCount(operation, ids);
  return true;
}
