import { describe, expect, it } from 'vitest';
import { serve } from '../client/served.ts';
import { home } from './built.ts';

/** Throws outside of every call of ours, after the program has started. */
const THROWER = `data:text/javascript,${encodeURIComponent("setImmediate(() => { throw new Error('boom'); })")}`;

async function crash(...options: readonly string[]) {
  await using place = await home();
  await using service = await serve(() => undefined);
  return await place.run(['cards', 'list', ...options], { baseUrl: service.baseUrl, node: ['--import', THROWER] });
}

describe('an error that nothing caught', () => {
  it('ends the program with 1 and one line', async () => {
    expect(await crash()).toEqual({ code: 1, signal: null, out: '', err: 'error: unexpected: boom\n' });
  });
});
