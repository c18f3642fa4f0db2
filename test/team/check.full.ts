/** The whole of `check.test.ts`. */
import { journalCheck } from './check.ts';

journalCheck({ isWhole: true });
