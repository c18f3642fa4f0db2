/**
 * Tells one API key from another without holding it: digests under a value that an outsider has not. The one home of
 * them, so that whoever looks for what is made of a key reads this page.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { Secret } from './secret.ts';

/** Print of a key under a random value that never leaves this machine: 8 hexadecimal digits. */
export function keyPrint(key: Secret, salt: string): string {
  return createHmac('sha256', salt).update(key.expose()).digest('hex').slice(0, 8);
}

/** What a sandbox keeps of an API key: its SHA-256, hexadecimal. */
export const digestOf = (key: string) => hash('sha256', key);

/** Compared in constant time; how long a key or a code is says nothing about which one it is. */
export function isSameKey(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
