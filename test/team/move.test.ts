/** Moves, cut off around every tenth call; `move.full.ts` cuts them off around each. */
import { journalMove } from './move.ts';

journalMove({ step: 10 });
