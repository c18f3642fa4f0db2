/** The sharpest of an operation that a colleague has ended; `not-told.full.ts` has the rest. */
import { notTold } from './not-told.ts';

notTold({ isWhole: false });
