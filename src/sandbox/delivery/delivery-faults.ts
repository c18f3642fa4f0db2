/** Faults on the way to a receiver: twice, later, out of order. Each delivery is asked about once. */
import { deterministicIds, fractionOf, seedOf } from '../calls/deterministic-ids.ts';
import { enqueue } from '../outbox/outbox.ts';
import { changeQueued, type DeliveryRow, deliveryBody } from '../store/deliveries.ts';
import type { Sql } from '../store/sql.ts';
import type { DeliveryParts } from './parts.ts';

interface Moment {
  readonly row: DeliveryRow;
  readonly now: number;
  readonly real: number;
}

/** Asks the faults about a delivery and carries out what they want. True when it must be looked for anew. */
export async function meddle(sql: Sql, parts: DeliveryParts, { row, now, real }: Moment): Promise<boolean> {
  const { account, faults, limits } = parts;
  const { webhook_id, event_id, event_type } = row;
  const fault = await faults({ sql, account, now, webhookId: webhook_id, eventId: event_id, event: event_type });
  const same = { id: row.id, due_at: row.due_at, behind: 0, held_until: null };
  switch (fault?.kind) {
    case 'duplicate':
      await changeQueued(sql, account, same);
      await twice(sql, account, { row, now });
      return false;
    case 'delay':
      await changeQueued(sql, account, { ...same, due_at: now + fault.ms });
      return true;
    case 'reorder': {
      const behind = await drawn(sql, row.id, fault.window);
      await changeQueued(sql, account, { ...same, behind, held_until: behind === 0 ? null : real + limits.hold });
      return behind > 0;
    }
    default:
      await changeQueued(sql, account, same);
      return false;
  }
}

/** A second row with the same event id and bytes: a receiver cannot tell it from a repetition. */
async function twice(sql: Sql, account: string, { row, now }: { row: DeliveryRow; now: number }): Promise<void> {
  const { webhook_id, event_id, event_type, event_seq } = row;
  const content = event_seq === null ? { body: await deliveryBody(sql, account, row.id) } : { seq: event_seq };
  const idSource = deterministicIds({ sql, account });
  await enqueue({ sql, account, now, idSource }, { webhook_id, event_id, event_type, content, untouched: true });
}

/** 0 to `window`, fixed by the seed. */
async function drawn(sql: Sql, delivery: string, window: number): Promise<number> {
  const fraction = fractionOf(`${await seedOf(sql)} reorder ${delivery}`);
  return Math.floor(fraction * (window + 1));
}
