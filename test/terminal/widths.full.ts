/** The whole of `widths.test.ts`. */
import { listingWidths } from './widths.ts';

listingWidths({ isWhole: true });
