/** The way out while a lease runs; `ways-out.full.ts` has the others. */
import { waysOut } from './ways-out.ts';

waysOut({ isWhole: false });
