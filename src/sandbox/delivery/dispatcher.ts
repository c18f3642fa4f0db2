/** The deliveries of one sandbox in one process: live in the background, or step by step while the clock is moved. */
import { earliestDue } from '../store/deliveries.ts';
import type { Sql } from '../store/sql.ts';
import { type DeliveryParts, type DeliveryWishes, deliveryParts, type Sender } from './parts.ts';
import { fireDeliveriesDue, runDeliveries, type Tried, type Until } from './run.ts';

export interface Courier {
  /** Sends what is due until idle or until a signal; see `Until`. */
  deliver(until: Until): Promise<readonly Tried[]>;
  /** Keeps the background from sending, so that only `fireDue` does; call what it returns to let it go on. */
  hold(): () => void;
  /** When the next delivery is due, when that is at or before `upTo`. */
  nextDue(sql: Sql, upTo: number): Promise<number | undefined>;
  /** Tries everything due at or before `upTo` once; the clock stands there already. */
  fireDue(upTo: number): Promise<readonly Tried[]>;
  /** Ends the background; what is in the air is cut off and goes again later. */
  stop(): Promise<void>;
}

/** With `live` it begins to send in the background at once. */
export function courier(sender: Sender, { live, ...wishes }: DeliveryWishes & { readonly live: boolean }): Courier {
  const parts: DeliveryParts = deliveryParts(sender, wishes);
  const stopping = new AbortController();
  let held = 0;
  const background = live
    ? runDeliveries(parts, { kind: 'signal', signal: stopping.signal, isHeld: () => held > 0 }).catch(parts.onFault)
    : undefined;
  return {
    deliver: until => runDeliveries(parts, until),
    hold() {
      held += 1;
      let isOver = false;
      return () => {
        if (!isOver) held -= 1;
        isOver = true;
      };
    },
    async nextDue(sql, upTo) {
      const due = await earliestDue(sql, parts.account);
      return due !== undefined && due <= upTo ? due : undefined;
    },
    fireDue: upTo => fireDeliveriesDue(parts, upTo),
    async stop() {
      stopping.abort();
      await background;
    },
  };
}
