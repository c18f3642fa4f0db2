/** scrypt with a thousandth of the work: what is asked for, a tenth of a second each time, is asked for by the tests of the key file. */
import { scryptSync } from 'node:crypto';
import type { Scrypt } from '../../src/approvals/keys.ts';

export const quickScrypt: Scrypt = (passphrase, salt, length, options) =>
  scryptSync(passphrase, salt, length, { ...options, N: 32 });
