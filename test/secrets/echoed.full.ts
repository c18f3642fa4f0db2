/** Every place in which a service repeats what it was sent, with every way to write a number. */
import { ANSWERS, leaveNothing, NUMBERS } from './echoed.ts';

leaveNothing(Object.keys(ANSWERS).map(name => [name, NUMBERS]));
