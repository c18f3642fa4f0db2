/** Every mistake of the list. */
import { test } from 'vitest';
import { expectAgreement, expectSeen, MISTAKES, SEED } from './mutants.ts';

test.each([SEED, 14])('without a mistake the run of seed %i agrees', expectAgreement);

test.each(MISTAKES)('$name', expectSeen);
