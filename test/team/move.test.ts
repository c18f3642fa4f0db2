/** Moves, cut off around every sixth call; `move.full.ts` cuts them off around each. */
import { journalMove } from './move.ts';

journalMove({ step: 6 });
