/** The whole of `two-journals.test.ts`. */
import { twoJournals } from './two-journals.ts';

twoJournals({ isWhole: true });
