import { expect, it } from 'vitest';
import { historyOverHttp } from './over-http.ts';

// Dialects that count otherwise. `over-http.full.ts` has all of them, 200 histories each.
it.each(['auth-single', 'ledger-balance', 'minimal'] as const)('no alarm over HTTP: %s', async dialect => {
  expect(await historyOverHttp(dialect, 1)).toMatchObject({ wrong: [], checkpoints: 4 });
});
