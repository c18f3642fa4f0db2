/** The whole of `sandbox-start.test.ts`. */
import { startedSandbox } from './sandbox-start.ts';

startedSandbox({ isWhole: true });
