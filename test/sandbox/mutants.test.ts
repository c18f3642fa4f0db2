/**
 * Mistakes in the rules, each of which the model must see: a suite that lets one through is no proof. Here the first of each
 * folder; `mutants.full.ts` has all of them.
 */
import { test } from 'vitest';
import { expectAgreement, expectSeen, MISTAKES, SEED } from './mutants.ts';

const folderOf = (file: string) => file.split('/')[0];
const firstOfFolder = MISTAKES.filter(
  ({ file }, at) => MISTAKES.findIndex(other => folderOf(other.file) === folderOf(file)) === at,
);

test('without a mistake the run agrees', () => expectAgreement(SEED));

test.each(firstOfFolder)('$name', expectSeen);
