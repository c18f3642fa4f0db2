/** The whole of `waiting.test.ts`. */
import { waiting } from './waiting.ts';

waiting({ isWhole: true });
