/**
 * Idempotency keys that follow from the intention: two machines, or one that lost its journal, send the same key for the
 * same card and the same top-up.
 */
import { createHash } from 'node:crypto';
import type { Cents } from '../core/money.ts';

/** Where a fleet lives: the same key means another card elsewhere. */
export interface Scope {
  /** Base address, or `embedded`. */
  readonly origin: string;
  readonly mode: string;
  readonly fleet: string;
}

/** Without letters that are taken for digits, as the ids of operations. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const DIGITS = 26;

/** 26 digits of base 32. */
function digestOf(parts: readonly (string | number)[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest();
  let bits = BigInt(`0x${bytes.subarray(0, 17).toString('hex')}`);
  let text = '';
  for (let digit = 0; digit < DIGITS; digit += 1) {
    text = `${ALPHABET[Number(bits & 31n)]}${text}`;
    bits >>= 5n;
  }
  return text;
}

/** The chain of keys of one card of a fleet; `.1`, `.2` … follow. */
export function createChain({ origin, mode, fleet }: Scope, name: string, generation: number): string {
  return `fc_${digestOf(['create', origin, mode, fleet, name, generation])}`;
}

/** The version of a card's money, and what is moved because of it. */
export interface MoneyVersion {
  readonly card: string;
  /** Cents seen on the card. */
  readonly balance: Cents;
  /** Id of the newest record seen; empty for none. */
  readonly transaction: string;
  readonly amount: Cents;
}

/** The chain of keys of one top-up. */
export function fundChain({ origin, mode }: Scope, { card, balance, transaction, amount }: MoneyVersion): string {
  return `ff_${digestOf(['fund', origin, mode, card, balance, transaction, amount])}`;
}

/** The chain of keys of one withdrawal. */
export function withdrawChain({ origin, mode }: Scope, { card, balance, transaction, amount }: MoneyVersion): string {
  return `fw_${digestOf(['withdraw', origin, mode, card, balance, transaction, amount])}`;
}
