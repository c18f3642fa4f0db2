/**
 * The words after an unknown outcome: the seven points of docs/design/reliability.md, section 5, in their order. The sixth
 * may be several lines.
 */

import { CliError } from '../../core/errors.ts';
import { isoSeconds } from '../../core/iso-time.ts';
import { cents, dollars, plainAmount } from '../../core/money.ts';
import { resolveCommand, riskOfResend } from '../../core/row-words.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { TakeUp } from '../types.ts';
import type { ItemRecord, PlanRecord } from '../wal/records.ts';
import type { RowHistory } from '../wal/replay.ts';
import { assessmentOf, checksOf } from './assessment.ts';
import type { EvidenceCheck } from './evidence.ts';
import { MARKER_KEY } from './marker.ts';
import { type Meanwhile, meanwhileWords } from './meanwhile.ts';
import type { RowOwner } from './run-context.ts';

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
  /** The service said yes, and only the record of it is missing; the card it named, if it did. */
  readonly answered?: { readonly card: string | undefined } | undefined;
  /** See `RowOwners`. */
  readonly owner?: RowOwner | undefined;
  /** Where it is in other hands by now. */
  readonly meanwhile?: Meanwhile | undefined;
  /** What goes on with it, where it is not in our hands. */
  readonly takeUp?: TakeUp | undefined;
  /** The service is known to honour its key. */
  readonly keyHonoured?: boolean | undefined;
  /** What is next: a resume; one that is asked to send again what left no trace; or a person decides. */
  readonly leadsOn?: 'resume' | 'resend' | 'person' | undefined;
}

/** Exit 11, in words for a person and with the same facts for a script. */
export function unknownError(facts: UnknownFactsToTell): CliError {
  const { plan, row, look, reason, requestId, answered } = facts;
  const { op } = plan;
  const { item, firstSent, lastSent } = row;
  const checks = checksNow(facts);
  const { verdict, because } = answered === undefined ? assessmentOf(row, look) : BY_ANSWER;
  const at = isoSeconds(lastSent?.at ?? plan.at);
  const first = firstSent === undefined || firstSent === lastSent ? undefined : isoSeconds(firstSent.at);
  const sent = first === undefined ? `at ${at}` : `at ${first}, and again at ${at} under the same key,`;
  const lookedAt = facts.lookedAt === undefined ? undefined : isoSeconds(facts.lookedAt);
  const checked = look?.text ?? row.looks.at(-1)?.found;
  const ways = waysOn(facts);
  const card = answered?.card ?? item.card;
  const byAnswer = `the answer of the service, which said that it is done${card === undefined ? '' : `, card ${card}`}`;
  const byLook = checked === undefined || lookedAt === undefined ? 'nothing yet' : `${checked}, at ${lookedAt}`;
  const seen = answered === undefined ? byLook : byAnswer;
  const count = `${checks} check${checks === 1 ? '' : 's'}`;
  const until = lookedAt === undefined || checks === 0 ? '' : ` (${count} until ${lookedAt})`;
  return new CliError('outcome_unknown', {
    message: `${item.operation} was sent ${sent} but no trustworthy answer came back (${clause(reason)}). It may or may not have happened`,
    notes: [
      `Asked: ${asked(row, plan)}.`,
      `Checked: ${seen}.`,
      `Verdict: ${verdict}${because === undefined ? '' : `: ${because}`}${until}.`,
      ...ways.notes,
      `For support: ${forSupport(row, at, requestId)}`,
    ],
    hint: ways.hint,
    outcome: 'unknown',
    operation: item.operation,
    op,
    ...(item.key === undefined ? {} : { idempotencyKey: item.key }),
    ...(requestId === undefined ? {} : { service: { request_id: requestId } }),
    evidence: withoutUndefined({
      row: item.row,
      card_id: card,
      bin_id: item.input['bin_id'],
      label: item.label,
      amount: item.amount === undefined ? undefined : plainAmount(cents(item.amount)),
      profile: plan.profile,
      mode: plan.mode,
      sent_at: at,
      reason: clause(reason),
      checked,
      checked_at: lookedAt,
      checks,
      verdict,
      verdict_because: because,
      first_sent_at: first,
      ...ways.evidence,
    }),
  });
}

interface WaysOn {
  readonly notes: readonly string[];
  readonly hint: string;
  /** The same commands for a script. */
  readonly evidence: Readonly<Record<string, string>>;
}

/** What leads on, in its order. Where others have settled the row, none of these commands does. */
function waysOn(facts: UnknownFactsToTell): WaysOn {
  const { plan, row, owner, meanwhile, answered } = facts;
  const { op } = plan;
  if (meanwhile !== undefined && (meanwhile.isOver || meanwhile.row.resolved !== undefined)) {
    const { notes, hint } = meanwhileWords({
      plan,
      meanwhile,
      isAnswered: answered !== undefined,
      danger: danger(row),
    });
    return { notes, hint, evidence: {} };
  }
  const looking = `cardwright ops resume ${op} --dry-run`;
  const { hint, says, first } = nextCommand(op, facts);
  const [done, notDone] = [resolveCommand(op, [row.item.row], 'done'), resolveCommand(op, [row.item.row], 'not-done')];
  return {
    notes: [
      owner === undefined ? runningAgain(row, plan) : onlyLookedFor(row, owner),
      `This only looks: ${looking}`,
      ...(says === undefined ? [] : [`${says}: ${hint}`]),
      ...first,
      `When you know that it happened: ${done}`,
      `When you know that it did not: ${notDone}`,
    ],
    hint,
    evidence: { look: looking, resolve_done: done, resolve_not_done: notDone },
  };
}

/** Not more than likely: the answer was not compared with the card. */
const BY_ANSWER = { verdict: 'probably done', because: 'only the record of it is missing' } as const;

/** What somebody at the service finds it by. */
function forSupport({ item: { key, amount, card } }: RowHistory, at: string, requestId: string | undefined): string {
  return [
    requestId === undefined ? 'no request id' : `request ${requestId}`,
    `key ${key ?? 'none'}`,
    at,
    ...(amount === undefined ? [] : [dollars(cents(amount))]),
    ...(card === undefined ? [] : [`card ${card}`]),
  ].join(', ');
}

/** The hint, what it does where it may send, and what comes before a word of the reader's own. */
function nextCommand(
  op: string,
  { leadsOn = 'resume', takeUp, keyHonoured }: Pick<UnknownFactsToTell, 'leadsOn' | 'takeUp' | 'keyHonoured'>,
) {
  const resume = `cardwright ops resume ${op}`;
  const command = takeUp?.command ?? resume;
  const isOther = takeUp?.isTakeover === true;
  // Of what is in other hands nobody else can record anything.
  const first = isOther ? [`Take it over first: ${command}`] : [];
  switch (leadsOn) {
    case 'resume':
      return {
        hint: command,
        says: isOther ? undefined : 'This looks, and may send it again where that is safe',
        first,
      };
    case 'resend':
      return {
        hint: `${command} --resend-absent`,
        says: `This sends it again under its own key; ${riskOfResend(keyHonoured === true)}`,
        first,
      };
    case 'person':
      return { hint: isOther ? command : `cardwright ops show ${op}`, says: undefined, first };
  }
}

/** Counts also a look that is not in the journal, as in a dry run. */
function checksNow({ row, look, lookedAt }: UnknownFactsToTell): number {
  const isUnrecorded = look !== undefined && row.looks.at(-1)?.at !== lookedAt;
  return checksOf(row) + (isUnrecorded ? 1 : 0);
}

/** Whether the same command is a second change, or is about this one. */
function runningAgain(row: RowHistory, { given_key: givenKey, bulk }: PlanRecord): string {
  const { item } = row;
  if (item.operation === 'cards.terminate')
    return 'Running the command again does no harm: a card that is terminated twice is terminated. This operation stays unknown until it is settled.';
  const name =
    item.intent !== undefined ? '--intent' : givenKey !== undefined && !bulk ? '--idempotency-key' : undefined;
  if (name === undefined) return `Do not run the command again: that is a new key and can ${danger(row)}.`;
  return `The same command with the same ${name} is about this operation, and does nothing twice. With another one, or without, it can ${danger(row)}.`;
}

/** The same command is about the op that has the name; where none has it, it would be a third change. */
function onlyLookedFor({ item }: RowHistory, { op, begun }: RowOwner): string {
  if (begun !== undefined)
    return `The same change is in ${op}, ${begun}: this one is looked for, and not sent again. Do not run the command again: look at both.`;
  const name = item.intent === undefined ? '--idempotency-key' : '--intent';
  return `Its ${name} belongs to ${op}, and the same command is about that one; this one is looked for, and not sent again.`;
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
  return reason.replace(/^.*?no trustworthy answer came back: /s, '').replace('. It may or may not have happened', '');
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
