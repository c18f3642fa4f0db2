/** Waits for codes and states; `waiting.full.ts` has each kind of them in trouble. */
import { waiting } from './waiting.ts';

waiting({ isWhole: false });
