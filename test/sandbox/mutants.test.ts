/**
 * Mistakes in the rules, each of which the model must see: a suite that lets one through is no proof. Here the first of each
 * file; `mutants.full.ts` has all of them.
 */
import { test } from 'vitest';
import { expectAgreement, expectSeen, MISTAKES, SEED } from './mutants.ts';

const firstOfFile = MISTAKES.filter(({ file }, at) => MISTAKES.findIndex(other => other.file === file) === at);

test('without a mistake the run agrees', () => expectAgreement(SEED));

test.each(firstOfFile)('$name', expectSeen);
