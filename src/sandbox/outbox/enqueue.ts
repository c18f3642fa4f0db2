/** Puts deliveries into the queue: of events, once more, and of examples. */
import type { EventName } from '../../contract/events.ts';
import type { SignedWith } from '../../contract/sandbox/deliveries.ts';
import type { IdSource } from '../calls/handler.ts';
import { nextCount } from '../store/counters.ts';
import { type DeliveryRow, insertDelivery } from '../store/deliveries.ts';
import type { Sql } from '../store/sql.ts';

export interface Queueing {
  readonly sql: Sql;
  readonly account: string;
  /** ms UTC on the clock of the sandbox: due now. */
  readonly now: number;
  readonly idSource: Pick<IdSource, 'id'>;
}

export interface ToDeliver {
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event_type: EventName;
  /** Number of the event whose bytes are sent, or the bytes of an example. */
  readonly content: { readonly seq: number } | { readonly body: string };
  /** Its body was written by hand. */
  readonly edited?: boolean | undefined;
  readonly sign?: SignedWith | undefined;
  /** The faults let it pass: it is the work of one. */
  readonly untouched?: true;
}

/** Queues one delivery; it may go as soon as the transaction is committed. */
export async function enqueue(
  { sql, account, now, idSource }: Queueing,
  { webhook_id, event_id, event_type, content, edited, sign, untouched }: ToDeliver,
): Promise<DeliveryRow> {
  const row: DeliveryRow = {
    id: await idSource.id('dlv'),
    position: await nextCount(sql, account, 'delivery position'),
    webhook_id,
    event_id,
    event_type,
    event_seq: 'seq' in content ? content.seq : null,
    state: 'queued',
    attempt: 0,
    created_at: now,
    due_at: now,
    faults_asked: untouched ? 1 : 0,
    behind: 0,
    held_until: null,
    edited: edited === true ? 1 : null,
    sign: sign === undefined || sign === 'right' ? null : sign,
  };
  await insertDelivery(sql, account, { ...row, body: 'body' in content ? content.body : null });
  return row;
}
