/** The whole of `killed-and-edited.test.ts`. */
import { editedAfterKill } from './killed-and-edited.ts';

editedAfterKill({ isWhole: true });
