/** What sending needs, and what may be done to it from outside. */
import type { EventName } from '../../contract/events.ts';
import { DELIVERY_TIMEOUT } from '../../contract/spans.ts';
import type { Clock, Randomness } from '../../platform/host.ts';
import type { ActiveDialect } from '../dialects/table.ts';
import type { Sql, Store } from '../store/sql.ts';
import { type Resolve, systemResolve } from './send.ts';

/** What a fault does to one delivery before its first attempt (docs/design/sandbox.md, section 5). */
export type DeliveryFault =
  /** It is delivered twice. */
  | { readonly kind: 'duplicate' }
  /** Up to `window` later deliveries of its subscription overtake it; which number of them, the seed decides. */
  | { readonly kind: 'reorder'; readonly window: number }
  /** It goes later, by ms on the clock of the sandbox. */
  | { readonly kind: 'delay'; readonly ms: number };

interface DueDelivery {
  readonly sql: Sql;
  /** ms UTC on the clock of the sandbox. */
  readonly now: number;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: EventName;
}

/** Asked once a delivery, in the transaction that would claim it; so a rule can count itself down there. */
export type DeliveryFaults = (asked: DueDelivery) => Promise<DeliveryFault | undefined>;

interface DeliveryLimits {
  /** Real ms within which a receiver must have answered. */
  readonly attempt: number;
  /** Real ms after which a sender counts as dead; well above `attempt`. */
  readonly lease: number;
  /** Real ms between two looks for what is due. */
  readonly poll: number;
  /** Real ms that one which is to be overtaken waits at most for others. */
  readonly hold: number;
}

const LIMITS: DeliveryLimits = { attempt: DELIVERY_TIMEOUT, lease: 30_000, poll: 100, hold: 1_000 };

export interface DeliveryParts {
  readonly store: Store;
  /** Real time; the clock of the sandbox is a row of the store. */
  readonly clock: Clock;
  readonly random: Randomness;
  /** Name of this process in leases, see files/process-identity.ts. */
  readonly owner: string;
  readonly isGone: (owner: string) => boolean;
  /** For the User-Agent. */
  readonly version: string;
  /** May go to other machines, over https. */
  readonly allowRemote: boolean;
  readonly faults: DeliveryFaults;
  readonly resolve: Resolve;
  readonly limits: DeliveryLimits;
  /** How payloads and signatures are written. */
  readonly activeDialect?: ActiveDialect | undefined;
  /** Told about errors nobody expected. */
  readonly onFault: (error: unknown) => void;
}

/** What of it may be left out. */
export interface DeliveryOptions {
  readonly allowRemote?: boolean | undefined;
  readonly faults?: DeliveryFaults | undefined;
  readonly resolve?: Resolve | undefined;
  readonly limits?: Partial<DeliveryLimits> | undefined;
}

export type Sender = Omit<DeliveryParts, keyof DeliveryOptions>;

export function deliveryParts(sender: Sender, options: DeliveryOptions = {}): DeliveryParts {
  const { allowRemote = false, faults = async () => undefined, resolve = systemResolve, limits = {} } = options;
  return { ...sender, allowRemote, faults, resolve, limits: { ...LIMITS, ...limits } };
}
