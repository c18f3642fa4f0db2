/** The whole of `ci.test.ts`. */
import { recipesOfCi } from './ci.ts';

recipesOfCi({ isWhole: true });
