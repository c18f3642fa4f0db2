/** Moves that are cut off around each call. */
import { journalMove } from './move.ts';

journalMove({ step: 1 });
