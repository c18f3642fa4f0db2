/** A program that a lease starts acts for the account of the lease; `same-account.full.ts` has the other commands that start one. */
import { sameAccount } from './same-account.ts';

sameAccount({ isWhole: false });
