/** The whole of `kept-both.test.ts`. */
import { keptBoth } from './kept-both.ts';

keptBoth({ isWhole: true });
