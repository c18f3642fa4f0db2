/** Every listing at the narrowest screen, a usual and a wide one; `widths.full.ts` has more. */
import { listingWidths } from './widths.ts';

listingWidths({ isWhole: false });
