/** The whole of `roads.test.ts`. */
import { sameOnEveryRoad } from './roads.ts';

sameOnEveryRoad({ isWhole: true });
