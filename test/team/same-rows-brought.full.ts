/** The same rows in an operation that was brought, in every way in which that comes about. */
import { sameRowsBrought } from './same-rows-brought.ts';

sameRowsBrought({ isWhole: true });
