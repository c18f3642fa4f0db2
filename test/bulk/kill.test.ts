import { test } from 'vitest';
import { killedAndResumed } from './kill.ts';

test.each([150])('killed after %i of 200 rows', killedAndResumed);
