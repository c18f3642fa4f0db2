/** The whole of `gate.test.ts`. */
import { gate } from './gate.ts';

gate({ isWhole: true });
