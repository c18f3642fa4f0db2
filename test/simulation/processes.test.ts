import { test } from 'vitest';
import { killProcesses } from './processes.ts';

test('eighteen processes are killed, and nothing is done twice', () => killProcesses(18), 300_000);
