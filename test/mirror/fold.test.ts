/** A copy that keeps three months; `fold.full.ts` has another way of the service to speak. */
import { foldedCopy } from './fold.ts';

foldedCopy({ isWhole: false });
