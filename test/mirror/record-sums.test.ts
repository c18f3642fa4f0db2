/** Sums of a copy against all its records; `record-sums.full.ts` has more services, and more checkpoints. */
import { it } from 'vitest';
import { expectSumsOfAllRecords } from './record-sums.ts';

it('sums of SQLite are those of all records', () => expectSumsOfAllRecords(1, 3));
