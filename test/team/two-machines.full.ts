/** The whole of `two-machines.test.ts`. */
import { twoMachines } from './two-machines.ts';

twoMachines({ isWhole: true });
