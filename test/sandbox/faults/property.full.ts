/** Faults of every kind between requests, in 200 random histories. */
import { it } from 'vitest';
import { expectWholeBooks } from './property.ts';

it('no fault leaves the books broken or a record half stored', () => expectWholeBooks(200));
