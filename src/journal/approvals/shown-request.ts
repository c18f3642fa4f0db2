/** A request as a person reads it, from the bytes that are signed and from nothing else. */
import { cents, dollars } from '../../core/money.ts';
import type { ApprovalPayload, ApprovalTarget } from './payload.ts';

/** What each fact is called, and its words. */
export type ShownFact = readonly [name: string, words: string];

/** Every fact that decides, in the order of reading. */
export function shownRequest(payload: ApprovalPayload): readonly ShownFact[] {
  const { command, rows, cents: sum, intent } = payload;
  const amount = dollars(cents(sum));
  return [
    ['Command', visible(command)],
    ...(rows > 1 ? [['Rows', String(rows)] as const] : []),
    ...shownTargets(payload),
    ...(sum > 0 ? [[rows > 1 ? 'Sum' : 'Amount', amount] as const] : []),
    ...shownRisk(payload),
    ...(intent === undefined ? [] : [['Intent', visible(intent)] as const]),
    ['Account', `${visible(payload.account)} (${payload.mode}) at ${visible(payload.origin)}`],
    ['Held because', visible(payload.rule)],
    ['Asked by', visible(payload.requested_by)],
    ['Asked at', visible(payload.requested_at)],
    ['Expires', visible(payload.expires_at)],
    ['Operation', visible(payload.op)],
  ];
}

/** The cards. */
export function shownTargets({ rows, targets }: ApprovalPayload): readonly ShownFact[] {
  return [
    ...targets.map(target => [rows > 1 ? `Row ${target.row}` : 'Target', targetWords(target)] as const),
    ...(rows > targets.length ? [['More', `${rows - targets.length} rows: approvals show --rows`] as const] : []),
  ];
}

/** What else an approver weighs. */
export function shownRisk({
  rows,
  largest_cents: largest,
  irreversible,
  before,
}: ApprovalPayload): readonly ShownFact[] {
  return [
    ...(rows > 1 && largest > 0 ? [['Largest', dollars(cents(largest))] as const] : []),
    ...(irreversible ? [['Cannot be undone', 'yes'] as const] : []),
    ...(before === undefined
      ? []
      : [['Card now', `${visible(before.status)}, ${dollars(cents(before.balance_cents))}`] as const]),
  ];
}

function targetWords({ card_id: card, last4, label, bin_id: bin }: ApprovalTarget): string {
  const words = [
    ...(last4 === undefined ? [] : [`…${visible(last4)}`]),
    ...(card === undefined ? [] : [visible(card)]),
    ...(bin === undefined ? [] : [`new card of ${visible(bin)}`]),
    ...(label === undefined ? [] : [`"${visible(label)}"`]),
  ];
  return words.length === 0 ? 'as the rows say' : words.join(' ');
}

/** Letters of other scripts look like ours, and direction marks reorder a line: all of them are escapes here. */
export function visible(text: string): string {
  return text.replace(/[^\x20-\x7e]|\\/gu, each =>
    each === '\\' ? '\\\\' : `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
