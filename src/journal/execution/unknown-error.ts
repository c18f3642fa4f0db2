/**
 * The words after an unknown outcome: always the same seven points, in this order
 * (docs/design/reliability.md, section 5).
 */

import { CliError } from '../../core/errors.ts';
import { isoSeconds } from '../../core/iso-time.ts';
import { cents, dollars, plainAmount } from '../../core/money.ts';
import { resolveCommand } from '../../core/row-words.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { ItemRecord, PlanRecord } from '../wal/records.ts';
import type { RowHistory } from '../wal/replay.ts';
import type { EvidenceCheck } from './evidence.ts';
import { MARKER_KEY } from './marker.ts';

export interface UnknownFactsToTell {
  readonly plan: PlanRecord;
  readonly row: RowHistory;
  /** The latest look, when there was one in this process. */
  readonly look?: EvidenceCheck | undefined;
  /** ms UTC of it. */
  readonly lookedAt?: number | undefined;
  /** Why the answer could not be trusted, in one clause. */
  readonly reason: string;
  readonly requestId?: string | undefined;
}

export type UnknownAssessment = 'probably done' | 'no trace yet' | 'cannot be determined';

/** Exit 11, in words for a person and with the same facts for a script. */
export function unknownError(facts: UnknownFactsToTell): CliError {
  const { plan, row, look, reason, requestId } = facts;
  const { op } = plan;
  const { item } = row;
  const checks = row.looks.length;
  const verdict = assessmentOf(look);
  const at = isoSeconds(row.lastSent?.at ?? plan.at);
  const lookedAt = facts.lookedAt === undefined ? undefined : isoSeconds(facts.lookedAt);
  const byHand = { done: resolveCommand(op, [item.row], 'done'), notDone: resolveCommand(op, [item.row], 'not-done') };
  const seen = look === undefined || lookedAt === undefined ? 'nothing yet' : `${look.text}, at ${lookedAt}`;
  const count = `${checks} check${checks === 1 ? '' : 's'}`;
  const until = lookedAt === undefined || checks === 0 ? '' : ` (${count} until ${lookedAt})`;
  const support = [
    requestId === undefined ? 'no request id' : `request ${requestId}`,
    `key ${item.key ?? 'none'}`,
    at,
    ...(item.amount === undefined ? [] : [dollars(cents(item.amount))]),
    ...(item.card === undefined ? [] : [`card ${item.card}`]),
  ];
  return new CliError('outcome_unknown', {
    message: `${item.operation} was sent at ${at} but no trustworthy answer came back (${clause(reason)}). It may or may not have happened`,
    notes: [
      `Asked: ${asked(row, plan)}.`,
      `Checked: ${seen}.`,
      `Verdict: ${verdict}${until}.`,
      `Do not run the command again: that is a new key and can ${danger(row)}.`,
      `When you know that it happened: ${byHand.done}`,
      `When you know that it did not: ${byHand.notDone}`,
      `For support: ${support.join(', ')}`,
    ],
    hint: `cardwright ops resume ${op}`,
    outcome: 'unknown',
    operation: item.operation,
    op,
    ...(item.key === undefined ? {} : { idempotencyKey: item.key }),
    ...(requestId === undefined ? {} : { service: { request_id: requestId } }),
    evidence: withoutUndefined({
      row: item.row,
      card_id: item.card,
      bin_id: item.input['bin_id'],
      label: item.label,
      amount: item.amount === undefined ? undefined : plainAmount(cents(item.amount)),
      profile: plan.profile,
      mode: plan.mode,
      sent_at: at,
      reason: clause(reason),
      checked: look?.text,
      checked_at: lookedAt,
      checks,
      verdict,
      resolve_done: byHand.done,
      resolve_not_done: byHand.notDone,
    }),
  });
}

/** What a look amounts to; only an answer or a marker confirms, and then the row is not unknown. */
export function assessmentOf(look: EvidenceCheck | undefined): UnknownAssessment {
  if (look?.found === 'it') return 'probably done';
  return look?.found === 'nothing' ? 'no trace yet' : 'cannot be determined';
}

function asked({ item }: RowHistory, { profile, mode }: PlanRecord): string {
  const amount = item.amount === undefined ? '' : ` ${dollars(cents(item.amount))}`;
  const account = { sandbox: 'SANDBOX', test: 'TEST', live: 'LIVE' }[mode];
  return `${item.operation}${amount}${targetText(item)}, profile ${profile}, ${account}`;
}

/** What it was meant for: a card, a BIN, or the request itself where it is no operation of the contract. */
function targetText({ card, label, input }: ItemRecord): string {
  const { bin_id: bin, method, path } = input;
  if (typeof method === 'string' && typeof path === 'string') return ` ${method} ${path}`;
  const named = label === undefined ? '' : `, label ${JSON.stringify(label)}`;
  if (card !== undefined) return `, card ${card}${named}`;
  return typeof bin === 'string' ? `, from BIN ${bin}${named}` : named;
}

function danger({ item }: RowHistory): string {
  switch (item.operation) {
    case 'cards.create':
    case 'cards.fund':
      return 'charge the wallet twice';
    case 'cards.withdraw':
      return 'take the money off the card twice';
    // Nobody knows what it does.
    case 'api.write':
      return 'do it twice';
    default:
      return 'undo what somebody else has done since';
  }
}

/** The client's message carries the frame already; only the cause is wanted here. */
export function clause(reason: string): string {
  return reason.replace(/^.*no trustworthy answer came back: /s, '').replace('. It may or may not have happened', '');
}

function withoutUndefined(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Two cards of one row: both are named, none is touched. */
export function duplicateNotes(row: RowHistory): readonly string[] {
  const ids = row.duplicate?.ids ?? [];
  return [
    `${ids.length} cards carry the marker of row ${row.item.row} (metadata ${MARKER_KEY}): ${ids.join(', ')}`,
    ...ids
      .slice(1)
      .flatMap(id => [`cardwright cards freeze ${shellWord(id)}`, `cardwright cards terminate ${shellWord(id)}`]),
  ];
}
