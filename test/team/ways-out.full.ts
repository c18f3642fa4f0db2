/** The whole of `ways-out.test.ts`. */
import { waysOut } from './ways-out.ts';

waysOut({ isWhole: true });
