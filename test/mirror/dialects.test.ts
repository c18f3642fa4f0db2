import { it } from 'vitest';
import { expectTrueCopy } from './dialects.ts';

// Without totals and paging, which is hardest to copy whole. The others are in dialects.full.ts.
it('copies a service that speaks minimal', () => expectTrueCopy('minimal'));
