/** Tells one API key from another without holding it: a digest under a random value that never leaves this machine. */
import { createHmac } from 'node:crypto';
import type { Connections } from './connections.ts';

/** 8 hex digits. Asks for the key. */
export async function keyPrint({ key }: Pick<Connections, 'key'>, salt: string): Promise<string> {
  return createHmac('sha256', salt)
    .update((await key()).expose())
    .digest('hex')
    .slice(0, 8);
}
