/** What was brought is shown before it is over; `untold-brought.full.ts` has more ways. */
import { untoldBrought } from './untold-brought.ts';

untoldBrought({ isWhole: false });
