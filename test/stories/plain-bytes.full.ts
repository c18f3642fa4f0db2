/** The terminals that `plain-bytes.test.ts` leaves out. */
import { it } from 'vitest';
import { inAHostileWorld, onlyColours } from './plain-bytes.ts';

inAHostileWorld();

it.each([80, 120])('%i columns: only colours are escapes, and without them it reads the same', onlyColours);
