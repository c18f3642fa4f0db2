/** What was killed is not done again by the same command; `killed-and-run-again.full.ts` has every moment of the kill. */
import { runAgainAfterKill } from './killed-and-run-again.ts';

runAgainAfterKill({ isWhole: false });
