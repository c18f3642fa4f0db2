/** One name in both journals never makes a third card; `kept-both.full.ts` has the rest. */
import { keptBoth } from './kept-both.ts';

keptBoth({ isWhole: false });
