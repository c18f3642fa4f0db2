/** Names of an operation: its id, the idempotency keys and markers of its rows. */
import { LIMITS } from '../contract/limits.ts';
import { base32 } from '../core/names.ts';
import type { Randomness } from '../platform/host.ts';

const OP_PATTERN = /^op_[0-9a-hjkmnp-tv-z]{26}$/;

export function isOp(name: string): boolean {
  return OP_PATTERN.test(name);
}

/**
 * Digits that may be a card number, alone or with a row and an attempt behind them. The marker of a card would not be sent
 * then, and a reading would hide it.
 */
const LIKE_A_NUMBER = /[2-9][0-9]{12}|[2-9][0-9]{3,}$/;

/** `op_` and 130 random bits, drawn again where they look like a card number. */
export function newOp(random: Randomness): string {
  for (;;) {
    const op = `op_${base32(random.bytes(17))}`;
    if (!LIKE_A_NUMBER.test(op)) return op;
  }
}

/**
 * The key of an attempt: of the intention where it has a chain of keys, else of the op. That is below the shortest limit known of any
 * service up to a million rows.
 */
export function attemptKey(
  op: string,
  { row, chain }: { readonly row: number; readonly chain?: string | undefined },
  attempt: number,
): string {
  return chain === undefined ? `${op}.${row}.${attempt}` : `${chain}.${attempt}`;
}

/** The metadata key by which a created card is found again when its answer is lost. */
export const MARKER_KEY = 'cardwright';

/** Why the marker cannot stand among the metadata of a caller; undefined where it can. */
export function markerFault(metadata: unknown): string | undefined {
  const keys = Object.keys(metadata ?? {});
  if (keys.includes(MARKER_KEY)) return `the metadata key ${MARKER_KEY} is taken: it marks which operation made a card`;
  const { max } = LIMITS.metadataKeys;
  if (keys.length < max) return undefined;
  return `${max} metadata keys are the limit, and one is needed to find the card again if its answer is lost`;
}

/** Which operation and row made the card. */
export function markerOf(op: string, row: number): string {
  return `${op}.${row}`;
}
