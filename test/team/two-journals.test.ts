/** No money moves over a second journal; `two-journals.full.ts` has more ways to have one. */
import { twoJournals } from './two-journals.ts';

twoJournals({ isWhole: false });
