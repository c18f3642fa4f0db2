/** A flaw of each table; `check.full.ts` has all. */
import { journalCheck } from './check.ts';

journalCheck({ isWhole: false });
