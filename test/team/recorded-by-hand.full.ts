/** The whole of `recorded-by-hand.test.ts`. */
import { recordedByHand } from './recorded-by-hand.ts';

recordedByHand({ isWhole: true });
