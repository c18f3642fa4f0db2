/** The whole of `killed-and-run-again.test.ts`. */
import { runAgainAfterKill } from './killed-and-run-again.ts';

runAgainAfterKill({ isWhole: true });
