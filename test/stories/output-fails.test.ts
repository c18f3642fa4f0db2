/** Output that cannot be written; `output-fails.full.ts` has a file of rows, too. */
import { outputFails } from './output-fails.ts';

outputFails({ isWhole: false });
