/** Beside those of `processes.test.ts`. */
import { test } from 'vitest';
import { killProcesses } from './processes.ts';

test('two thousand processes are killed, and nothing is done twice', () => killProcesses(2_000), 3_600_000);
