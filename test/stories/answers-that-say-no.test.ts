/** Nothing is called done that nobody has seen; `answers-that-say-no.full.ts` answers each change in every way. */
import { saysNo } from './answers-that-say-no.ts';

saysNo({ isWhole: false });
