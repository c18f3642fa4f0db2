/** The long proof that whoever looks changes nothing. */
import { it } from 'vitest';
import { leavesExportsAlone } from './looks.ts';

it('leaves exports of 100 histories as they are, byte for byte', { timeout: 1_800_000 }, () =>
  leavesExportsAlone(100, 20),
);
