/** The deliveries of one sandbox in one process: live in the background, or step by step while the clock is moved. */
import { earliestDue } from '../store/deliveries.ts';
import type { Sql } from '../store/sql.ts';
import { type DeliveryOptions, type DeliveryParts, deliveryParts, type Sender } from './parts.ts';
import { type DeliveryAttempt, fireDeliveriesDue, runDeliveries, type Until } from './run.ts';

export interface Dispatcher {
  /** Sends what is due until idle or until a signal; see `Until`. */
  deliver(until: Until): Promise<readonly DeliveryAttempt[]>;
  /** Keeps the background from sending, so that only `fireDue` does; call what it returns to let it go on. */
  hold(): () => void;
  /** When the next delivery is due; undefined when none is due by `upTo`. */
  nextDue(sql: Sql, upTo: number): Promise<number | undefined>;
  /** Tries everything due at or before `upTo` once; the clock stands there already. */
  fireDue(upTo: number): Promise<readonly DeliveryAttempt[]>;
  /** Ends the background; what is in the air is cut off and goes again later. */
  stop(): Promise<void>;
}

/** With `live` it begins to send in the background at once. */
export function createDispatcher(
  sender: Sender,
  { live, ...options }: DeliveryOptions & { readonly live: boolean },
): Dispatcher {
  const parts: DeliveryParts = deliveryParts(sender, options);
  const stopping = new AbortController();
  let held = 0;
  const background = live
    ? runDeliveries(parts, { kind: 'signal', signal: stopping.signal, isHeld: () => held > 0 }).catch(parts.onFault)
    : undefined;
  return {
    deliver: until => runDeliveries(parts, until.kind === 'due' ? { ...until, isHeld: () => held > 0 } : until),
    hold() {
      held += 1;
      let isOver = false;
      return () => {
        if (!isOver) held -= 1;
        isOver = true;
      };
    },
    async nextDue(sql, upTo) {
      const due = await earliestDue(sql);
      return due !== undefined && due <= upTo ? due : undefined;
    },
    fireDue: upTo => fireDeliveriesDue(parts, upTo),
    async stop() {
      stopping.abort();
      await background;
    },
  };
}
