/** Nobody loses sight of what he was not shown; `move-untold.full.ts` has more ways. */
import { moveUntold } from './move-untold.ts';

moveUntold({ isWhole: false });
