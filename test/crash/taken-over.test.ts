/** A delivery of a server that was killed; `taken-over.full.ts` has the clock, and a server that stands still. */
import { describe, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { deliveryTakenOver } from './taken-over.ts';

describe.skipIf(missing() !== undefined)('of a server that was killed another one takes over', () => {
  it('a delivery', () => deliveryTakenOver('killed'));
});
