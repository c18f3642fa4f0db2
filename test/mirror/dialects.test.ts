import { it } from 'vitest';
import { expectTrueCopy } from './dialects.ts';

// Without totals and paging; one changing record a purchase. The others are in dialects.full.ts.
it.each(['minimal', 'auth-single'])('copies a service that speaks %s', expectTrueCopy);
