/** Rows that a file shows, over a shared journal; `told-by-rows.full.ts` has those of one machine. */
import { toldByRows } from './told-by-rows.ts';

toldByRows({ isWhole: false });
