/** Rows that are done are not made again because a file was edited; `killed-and-edited.full.ts` has more edits. */
import { editedAfterKill } from './killed-and-edited.ts';

editedAfterKill({ isWhole: false });
