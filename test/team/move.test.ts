/** Moves, cut off around every tenth call; `move.full.ts` cuts them off around each, and has what refuses them. */
import { journalMove } from './move.ts';

journalMove({ isWhole: false });
