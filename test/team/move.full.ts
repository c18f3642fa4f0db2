/** Moves that are cut off around each call, and what refuses them. */
import { journalMove } from './move.ts';

journalMove({ isWhole: true });
