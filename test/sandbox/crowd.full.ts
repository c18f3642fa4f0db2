import { it } from 'vitest';
import { crowd } from './crowd.ts';

it('takes every write of 20 processes times 100 on one new file', { timeout: 600_000 }, () => crowd(20, 100));
