/** The whole of `answers-that-say-no.test.ts`. */
import { saysNo } from './answers-that-say-no.ts';

saysNo({ isWhole: true });
