/** The whole of `untold-brought.test.ts`. */
import { untoldBrought } from './untold-brought.ts';

untoldBrought({ isWhole: true });
