import { expect, it } from 'vitest';
import { historyOverHttp } from './over-http.ts';

// Dialects that count otherwise. `over-http.full.ts` has all of them, 200 histories each.
it.each(['auth-single', 'ledger-balance', 'minimal'] as const)('no alarm over HTTP: %s', async dialect => {
  for (const seed of [1, 2, 3]) expect(await historyOverHttp(dialect, seed)).toMatchObject({ wrong: [], cuts: 4 });
});
