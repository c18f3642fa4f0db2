/** The real scrypt, a tenth of a second each time, once for each passphrase and salt of this process. */
import { scryptSync } from 'node:crypto';
import type { Scrypt } from '../../src/journal/approvals/signing-key.ts';

const known = new Map<string, Buffer>();

export const rememberedScrypt: Scrypt = (...words) => {
  const asked = JSON.stringify(words);
  const made = known.get(asked) ?? scryptSync(...words);
  known.set(asked, made);
  return Buffer.from(made);
};
