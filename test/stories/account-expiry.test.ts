/** An account that ends; `account-expiry.full.ts` has its snapshots, and an end by hand. */
import { accountExpiry } from './account-expiry.ts';

accountExpiry({ isWhole: false });
