/** A started sandbox dies by kill -9: what it answered stands, and the next start serves at once. */
import { expect, it } from 'vitest';
import { killRounds } from './started.ts';

it('is there again after kill -9 in the middle of writes, with everything it answered', async () => {
  const took = await killRounds(2);
  expect(took).toHaveLength(2);
});
