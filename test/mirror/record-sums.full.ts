/** Sums of copies against all their records, for more services and checkpoints than `record-sums.test.ts`. */
import { it } from 'vitest';
import { expectSumsOfAllRecords } from './record-sums.ts';

const SEEDS = Array.from({ length: 12 }, (_, at) => at + 1);

it.each(SEEDS)('sums of SQLite are those of all records, service %i', seed => expectSumsOfAllRecords(seed, 5));
