import { describe, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { clockTakenOver, deliveryTakenOver } from './taken-over.ts';

describe.skipIf(missing() !== undefined)('of a server that was killed another one takes over', () => {
  it('a delivery', () => deliveryTakenOver('killed'));
  it('moving the clock', () => clockTakenOver('killed'));
});
