/** The same rows in an operation that was brought; `same-rows-brought.full.ts` has every way in which that comes about. */
import { sameRowsBrought } from './same-rows-brought.ts';

sameRowsBrought({ isWhole: false });
