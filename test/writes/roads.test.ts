/** The same refusal down every road; `roads.full.ts` has every refusal on each. */
import { sameOnEveryRoad } from './roads.ts';

sameOnEveryRoad({ isWhole: false });
