/** Names of an operation: its id, the idempotency keys and markers of its rows. */
import type { Randomness } from '../platform/host.ts';

/** Without letters that are taken for digits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const DIGITS = 26;

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
    const op = drawnOp(random);
    if (!LIKE_A_NUMBER.test(op)) return op;
  }
}

function drawnOp(random: Randomness): string {
  let bits = BigInt(`0x${Buffer.from(random.bytes(17)).toString('hex')}`);
  let text = '';
  for (let digit = 0; digit < DIGITS; digit += 1) {
    text = `${ALPHABET[Number(bits & 31n)]}${text}`;
    bits >>= 5n;
  }
  return `op_${text}`;
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

/** What a card of a row is marked with: a marker of its own, or the op's. */
export function rowMarker(
  op: string,
  { row, marker }: { readonly row: number; readonly marker?: string | undefined },
): string {
  return marker ?? markerOf(op, row);
}

/** Which operation and row made the card. */
export function markerOf(op: string, row: number): string {
  return `${op}.${row}`;
}
