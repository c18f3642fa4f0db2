/** At the beginning and in the middle of the run, beside that of `kill.test.ts`. */
import { test } from 'vitest';
import { killedAndResumed } from './kill.ts';

test.each([1, 5, 20, 60, 90, 120])('killed after %i of 200 rows', killedAndResumed);
