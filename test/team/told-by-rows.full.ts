/** The whole of `told-by-rows.test.ts`. */
import { toldByRows } from './told-by-rows.ts';

toldByRows({ isWhole: true });
