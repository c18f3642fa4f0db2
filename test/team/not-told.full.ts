/** The whole of `not-told.test.ts`. */
import { notTold } from './not-told.ts';

notTold({ isWhole: true });
