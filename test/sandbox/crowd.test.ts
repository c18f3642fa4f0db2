import { it } from 'vitest';
import { crowd } from './crowd.ts';

it('takes every write of 6 processes on one new file', { timeout: 180_000 }, () => crowd(6, 10));
