import { test } from 'vitest';
import { killProcesses } from './processes.ts';

test('sixty processes are killed, and nothing is done twice', () => killProcesses(60), 300_000);
