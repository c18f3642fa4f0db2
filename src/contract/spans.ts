/** How long things last at the service, ms, and how often they are tried. None of it is shown: each has its A-number. */
import { DAY, HOUR, MINUTE, SECOND } from '../core/durations.ts';

/** A finished answer is repeated under its idempotency key. */
export const KEY_RETENTION = DAY;
/**
 * A list may be filled from an index, and a reading come from a replica: pauses between looks for what may be behind,
 * and how far that is at most, 8.75 s. Our choice, and no fact of the service. Guides and A-170 name the figure.
 */
export const READ_LAG_PAUSES = [250, 500, 1_000, 2_000, 5_000] as const;
export const READ_LAG = READ_LAG_PAUSES.reduce<number>((all, pause) => all + pause, 0);
/** How long what this journal has moved on a card counts beside a reading of it: no reading is behind for longer. */
export const OWN_MOVE_COUNTS = 15 * SECOND;
/** So long a list may be behind what this journal has done, and what was sent and never settled may still move something. */
export const RECENT = 10 * MINUTE;
/** After so long nothing that was sent can be on its way any more. */
export const QUIET = 150 * SECOND;
/** One pause more before something is sent again by its key alone: a service may have forgotten that, too. */
export const RESEND_PAUSE = 4_000;
/** How long a 3DS challenge waits for its code. */
export const CHALLENGE_LIFE = 5 * MINUTE;
/** How many wrong codes end a challenge. */
export const CHALLENGE_ATTEMPTS = 3;
/** How long an authorization holds money, and one of a travel merchant. */
export const HOLD_LIFE = 7 * DAY;
export const TRAVEL_HOLD_LIFE = 31 * DAY;
/** How long a receiver of webhooks may take to answer. */
export const DELIVERY_TIMEOUT = 15 * SECOND;
/** From one attempt at a delivery to the next. */
export const DELIVERY_RETRIES = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  10 * HOUR,
] as const;
/** After so long with nothing but failures a subscription is disabled. */
export const DELIVERY_GIVEN_UP = 5 * DAY;
/** Rate limits count the requests of any span so long (section 8). */
export const RATE_WINDOW = MINUTE;
