/** The whole of `move-untold.test.ts`. */
import { moveUntold } from './move-untold.ts';

moveUntold({ isWhole: true });
