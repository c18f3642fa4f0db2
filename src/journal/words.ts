/** What is told of a change that is not done: what was asked, sent and looked at, and the command that leads on. */

import { isoSeconds } from '../core/durations.ts';
import { CliError, type ErrorFacts } from '../core/errors.ts';
import { cents, dollars, plainAmount } from '../core/money.ts';
import { withoutUndefined } from '../core/objects.ts';
import { resolveCommand, riskOfResend } from '../core/row-words.ts';
import { shellWord } from '../core/shell-quote.ts';
import { MARKER_KEY } from './names.ts';
import { type Change, type Look, type Op, rowState } from './records.ts';
import type { RowOutcome } from './types.ts';

/** What every outcome of a change says. */
export function factsOf(change: Change): Omit<RowOutcome, 'outcome'> {
  const { n, card, last4, evidence, before } = change;
  const amount = evidence.amount ?? change.amount;
  return {
    row: n,
    cardId: card,
    amount: amount === 0 ? undefined : cents(amount),
    last4: last4 ?? before?.last4,
    requestId: evidence.requestId,
  };
}

/** The outcome as the journal has it; undefined for a change that is still to be sent and was never tried. */
export function recordedOutcome(change: Change, op: Op): RowOutcome | undefined {
  const facts = factsOf(change);
  const { state, evidence, error } = change;
  switch (state) {
    case 'done':
      return {
        ...facts,
        outcome: 'done',
        changed: evidence.changed ?? true,
        ...(evidence.otherwise !== undefined && { error: doneOtherwise(change, evidence.otherwise) }),
        ...(evidence.duplicate !== undefined && { duplicate: evidence.duplicate }),
      };
    case 'refused':
    case 'not_sent':
      return { ...facts, outcome: state, error: keptAgain(change) };
    case 'sent':
    case 'unknown':
      return { ...facts, outcome: 'unknown', error: unknownError(op, change, undefined) };
    case 'planned':
      if (error === undefined) return undefined;
      return {
        ...facts,
        outcome: error.kind === 'insufficient_funds' ? 'refused' : 'not_sent',
        error: keptAgain(change),
      };
  }
}

function keptAgain(change: Change): CliError {
  const { operation, error, evidence } = change;
  if (evidence.resolved !== undefined) {
    const { who, note } = evidence.resolved;
    const message = `${operation} was declared not done by ${who}: ${note}`;
    return named(change, new CliError('not_confirmed', { message, outcome: 'not_sent' }));
  }
  const { kind, ...facts } = error ?? { kind: 'unreachable', message: `${operation} was not sent` };
  const outcome = change.state === 'refused' || kind === 'insufficient_funds' ? 'refused' : 'not_sent';
  return named(change, new CliError(kind, { ...facts, outcome }));
}

export function doneOtherwise(change: Change, message: string): CliError {
  const hint = change.card === undefined ? {} : { hint: `cardwright cards get ${shellWord(change.card)}` };
  return named(change, new CliError('contract_mismatch', { message, outcome: 'done', ...hint }));
}

/** Nothing was sent because of an op; `ops show` leads on where `more` names nothing else. */
export function opError(
  kind: 'guarded' | 'usage' | 'not_found',
  op: string,
  message: string,
  more: Pick<ErrorFacts, 'hint' | 'reason' | 'notes' | 'idempotencyKey'> = {},
): CliError {
  return new CliError(kind, { message, hint: `cardwright ops show ${op}`, outcome: 'not_sent', op, ...more });
}

/** The error with the op, where a journal keeps it, the operation and the key of its change. */
export function named({ op, operation, key }: Change, error: CliError): CliError {
  return error.with({ ...(op !== '' && { op }), operation, ...(key !== undefined && { idempotencyKey: key }) });
}

const UNANSWERED = 'the process ended before an answer was written down';

/** Why a change is not done, or not as asked, in one clause. */
export function reasonOf(change: Change): string | undefined {
  const { error, evidence } = change;
  const isUnknown = rowState(change) === 'unknown';
  return error?.message ?? (isUnknown ? (evidence.reason ?? UNANSWERED) : evidence.otherwise);
}

/** Where a person goes on from. */
export interface WayOn {
  /** A resume has looked already, or somebody who only looks: to look once more is not always the next step. */
  readonly isLooked?: boolean;
  /** It was looked for completely, and is not there: sending it again is a person's decision. */
  readonly isAbsent?: boolean;
  readonly isKeyHonoured?: boolean;
}

/** Exit 11, in words for a person and with the same facts for a script. */
export function unknownError(op: Op, change: Change, look: Look | undefined, way: WayOn = {}): CliError {
  const { operation, n, evidence, card, amount, input, facts } = change;
  const sent = isoSeconds(change.lastSentAt ?? op.created);
  const { reason = UNANSWERED } = evidence;
  const seen = look?.text ?? evidence.seen;
  const checkedAt = evidence.lookedAt === undefined ? undefined : isoSeconds(evidence.lookedAt);
  const verdict = verdictOf(change, look);
  const resume = `cardwright ops resume ${op.id}`;
  const hint = way.isAbsent ? `${resume} --resend-absent` : way.isLooked ? `cardwright ops show ${op.id}` : resume;
  // Without its card an intent would stay without one for good.
  const made = operation === 'cards.create' ? (evidence.made ?? 'card_…') : undefined;
  const [done, notDone] = [resolveCommand(op.id, [n], 'done', made), resolveCommand(op.id, [n], 'not-done')];
  return named(
    change,
    new CliError('outcome_unknown', {
      message: `${operation} was sent at ${sent} but no trustworthy answer came back (${reason}). It may or may not have happened`,
      notes: [
        `Asked: ${asked(op, change)}.`,
        `Checked: ${seen === undefined ? 'nothing yet' : `${seen}${checkedAt === undefined ? '' : `, at ${checkedAt}`}`}.`,
        `Verdict: ${verdict}.`,
        runningAgain(op, change),
        `This only looks: ${resume} --dry-run`,
        ...(way.isAbsent
          ? [`This sends it again under its own key; ${riskOfResend(way.isKeyHonoured === true)}: ${hint}`]
          : way.isLooked
            ? []
            : [`This looks, and may send it again where that is safe: ${resume}`]),
        `When you know that it happened: ${done}`,
        `When you know that it did not: ${notDone}`,
      ],
      hint,
      outcome: 'unknown',
      ...(evidence.requestId !== undefined && { service: { request_id: evidence.requestId } }),
      evidence: withoutUndefined({
        row: n,
        card_id: card,
        bin_id: input['bin_id'],
        label: facts.label,
        amount: amount === 0 ? undefined : plainAmount(cents(amount)),
        profile: op.profile,
        mode: op.mode,
        sent_at: sent,
        reason,
        checked: seen,
        checked_at: checkedAt,
        checks: evidence.looks ?? 0,
        verdict,
        look: `${resume} --dry-run`,
        resolve_done: done,
        resolve_not_done: notDone,
      }),
    }),
  );
}

function verdictOf({ evidence, state, amount, operation }: Change, look: Look | undefined): string {
  if (look?.found === 'there' || look?.found === 'several' || evidence.spoke !== undefined) return 'probably done';
  const wallet = look?.moved?.wallet;
  if (operation === 'cards.create' && wallet !== undefined && wallet === -amount) return 'probably done';
  if (look?.found === 'not there' || (look === undefined && evidence.absent === true)) return 'no trace yet';
  return state === 'sent' && look === undefined && evidence.seen === undefined
    ? 'not looked for yet'
    : 'cannot be determined';
}

/** Whether the same command is a second change, or is about this one. */
function runningAgain({ givenKey, bulk, id }: Op, { operation, intent }: Change): string {
  if (operation === 'cards.terminate') return 'Terminating the card again does no harm: it waits for this operation.';
  const name = intent !== undefined ? '--intent' : givenKey !== undefined && !bulk ? '--idempotency-key' : undefined;
  if (name !== undefined)
    return `The same command with the same ${name} is about this operation, and does nothing twice.`;
  return `The same command is refused until ${id} is settled; another one of the same kind is a second change.`;
}

function asked({ profile, mode }: Op, { operation, amount, input, card, facts }: Change): string {
  const { bin_id: bin, method, path } = input;
  const label = facts.label === undefined ? '' : `, label ${JSON.stringify(facts.label)}`;
  const target =
    typeof method === 'string' && typeof path === 'string'
      ? ` ${method} ${path}`
      : card !== undefined
        ? `, card ${card}${label}`
        : typeof bin === 'string'
          ? `, from BIN ${bin}${label}`
          : label;
  return `${operation}${amount === 0 ? '' : ` ${dollars(cents(amount))}`}${target}, profile ${profile}, ${mode}`;
}

/** Two cards of one row: both are named, none is touched. */
export function duplicateNotes(row: number, ids: readonly string[]): readonly string[] {
  return [
    `${ids.length} cards carry the marker of row ${row} (metadata ${MARKER_KEY}): ${ids.join(', ')}`,
    ...ids
      .slice(1)
      .flatMap(id => [`cardwright cards freeze ${shellWord(id)}`, `cardwright cards terminate ${shellWord(id)}`]),
  ];
}

/** All rows are done, and the verification at the end has found what speaks against it: 15. */
export function objected(op: string, objections: readonly string[]): CliError {
  return new CliError('check_failed', {
    message: `the verification of ${op} objects`,
    notes: objections,
    evidence: { objections },
    hint: `cardwright ops show ${op}`,
    outcome: 'done',
    op,
  });
}

/**
 * A failure of ours after the service has done something says so first: `what` failed after `operation` was done, exit 15. What is
 * no `CliError` is returned as it is.
 */
export function afterwards(thrown: unknown, operation: string, what: string, op?: string): unknown {
  if (!(thrown instanceof CliError)) return thrown;
  return new CliError('check_failed', {
    message: `${operation} is done, but ${what}: ${thrown.message}`,
    notes: ['Do not run the command again: look at what it did.'],
    hint: op === undefined ? 'cardwright ops list' : `cardwright ops show ${op}`,
    outcome: 'done',
    operation,
    ...(op !== undefined && { op }),
    cause: thrown,
  });
}
