/** What is written down of a row whose effect is there. */
import { centsOf } from '../../core/money.ts';
import type { DoneRecord } from '../wal/records.ts';
import { isResentOnCheck } from '../wal/replay.ts';
import { MARKER_KEY, rowMarker } from './marker.ts';
import type { RunContext } from './run-context.ts';

type Values = Readonly<Record<string, unknown>>;

export interface DoneFacts {
  readonly result: Values | undefined;
  readonly via: DoneRecord['via'];
  readonly changed: boolean;
  readonly requestId?: string | undefined;
  /** As in `Delivery`. */
  readonly resentOnCheck?: boolean | undefined;
  /** Whether the card shows its marker; told by the result where it is left out. */
  readonly showsMarker?: boolean | undefined;
}

export function doneRecord(context: RunContext, number: number, facts: DoneFacts): DoneRecord {
  const { result = {}, via, changed, requestId, resentOnCheck, showsMarker } = facts;
  const row = context.row(number);
  const { item, firstSent } = row;
  const created = item.operation === 'cards.create';
  const metadata = result['metadata'] as Values | undefined;
  const balance = created && typeof result['balance'] === 'number' ? centsOf(result['balance']) : undefined;
  const marked = created && context.plan.marker && 'balance' in result;
  // One form for all: a run keeps one of them a row. What is undefined is not written.
  return {
    t: 'DONE',
    row: number,
    via,
    changed,
    id: textOf(result['id']),
    last4: textOf(result['last4']) ?? firstSent?.before?.last4,
    request_id: requestId,
    echo: showsMarker ?? (marked ? metadata?.[MARKER_KEY] === rowMarker(context.plan.op, item) : undefined),
    balance,
    made_at: created ? timeOf(result['created_at']) : undefined,
    resent_on_check: resentOnCheck === true || isResentOnCheck(row) || undefined,
    at: context.clock.now(),
  };
}

/** ms UTC; undefined for what is no time. */
export function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
