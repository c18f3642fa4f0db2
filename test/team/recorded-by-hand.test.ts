/** What a colleague has recorded; `recorded-by-hand.full.ts` has names, and one machine alone. */
import { recordedByHand } from './recorded-by-hand.ts';

recordedByHand({ isWhole: false });
