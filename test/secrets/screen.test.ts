/**
 * A card on a real terminal: whatever ends the program, the screen is wiped and left, and the terminal is as it was.
 * SIGKILL cannot be answered and is not promised. `screen.full.ts` has more signals.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Desk, desk, missing } from './shown-card.ts';

let at: Desk;
beforeAll(async () => {
  at = await desk();
});
afterAll(() => at[Symbol.asyncDispose]());

describe.skipIf(missing)('a card on the screen', () => {
  it('ends in order when the terminal itself goes away', async () => {
    const ended = await at.shown((_, __, terminal) => terminal.kill('SIGKILL'));
    // Of the hangup, and not 134 with a core dump that holds the card.
    expect(ended.code).toBe('129');
  });

  it('is wiped at Ctrl-C', async () => {
    const ended = await at.shown((_, type) => type('\x03'));
    at.expectWiped(ended);
    expect(ended.code).toBe('130');
  });
});
