/** Every refusal of every change, where `refused-repeats.test.ts` has the sharpest. */
import { REFUSALS, refusedLater } from './refused-repeats.ts';

refusedLater({ create: [], fund: REFUSALS, withdraw: REFUSALS, terminate: REFUSALS });
