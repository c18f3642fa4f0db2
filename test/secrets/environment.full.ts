/** Lines that `environment.test.ts` does not run among the traps. */
import { it } from 'vitest';
import { changeNoAnswer, MORE_LINES, withTrap } from './traps.ts';

withTrap();

it('change no answer, and nothing in them runs', () => changeNoAnswer(MORE_LINES));
