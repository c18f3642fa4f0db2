import { describe, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { clockTakenOver, deliveryTakenOver } from './taken-over.ts';

describe.skipIf(missing() !== undefined)('of a server that was killed another one takes over', () => {
  it('moving the clock', () => clockTakenOver('killed'));
});

describe.skipIf(missing() !== undefined)(
  'of a server that stands still another one takes over, once its lease is over,',
  () => {
    it('a delivery', () => deliveryTakenOver('stopped'));
    it('moving the clock', () => clockTakenOver('stopped'));
  },
);
