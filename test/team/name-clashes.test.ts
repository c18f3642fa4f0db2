/** A clash of names makes no second card; `name-clashes.full.ts` has one that comes to nothing. */
import { nameClashes } from './name-clashes.ts';

nameClashes({ isWhole: false });
