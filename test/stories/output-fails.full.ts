/** The whole of `output-fails.test.ts`. */
import { outputFails } from './output-fails.ts';

outputFails({ isWhole: true });
