/** A sandbox that is started and ended; `sandbox-start.full.ts` has what it does while it runs. */
import { startedSandbox } from './sandbox-start.ts';

startedSandbox({ isWhole: false });
