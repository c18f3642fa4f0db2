/** The action and the books of a month; `ci.full.ts` has every recipe. */
import { recipesOfCi } from './ci.ts';

recipesOfCi({ isWhole: false });
