/** Faults of every kind between requests: 10 random histories; `property.full.ts` has more. */
import { it } from 'vitest';
import { expectWholeBooks } from './property.ts';

it('no fault leaves the books broken or a record half stored', { timeout: 180_000 }, () => expectWholeBooks(10));
