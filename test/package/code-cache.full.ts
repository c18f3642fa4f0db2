/** Compiled code spoilt in the ways that `code-cache.test.ts` leaves out. */
import { describe } from 'vitest';
import { notUsedWhenSpoilt, OTHERS } from './code-cache.ts';

describe('compiled code', () => notUsedWhenSpoilt(OTHERS));
