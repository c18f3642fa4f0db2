/** The whole of `name-clashes.test.ts`. */
import { nameClashes } from './name-clashes.ts';

nameClashes({ isWhole: true });
