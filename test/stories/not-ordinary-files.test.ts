/** A pipe where a file of ours belongs; `not-ordinary-files.full.ts` has more places. */
import { notOrdinaryFiles } from './not-ordinary-files.ts';

notOrdinaryFiles({ isWhole: false });
