/**
 * Every place in which a service repeats what it was sent. How numbers are recognised does not depend on where they stand:
 * one place is tried with more of them; `echoed.full.ts` has all in each.
 */
import { ANSWERS, FEW_NUMBERS, leaveNothing } from './echoed.ts';

leaveNothing(
  Object.keys(ANSWERS).map(name => [name, name === 'an identifier' ? FEW_NUMBERS : FEW_NUMBERS.slice(0, 1)]),
);
