/** Two machines never do one purchase twice; `two-machines.full.ts` has what moves no money, too. */
import { twoMachines } from './two-machines.ts';

twoMachines({ isWhole: false });
