/** More moves of a clock than in `clock.test.ts`, in two steps or in one. */
import { test } from 'vitest';
import { expectSameInTwoSteps } from './clock-steps.ts';

test('in two steps or in one, the whole store is the same', () => expectSameInTwoSteps(100));
