/** The whole of `fold.test.ts`. */
import { foldedCopy } from './fold.ts';

foldedCopy({ isWhole: true });
