/** The whole of `account-expiry.test.ts`. */
import { accountExpiry } from './account-expiry.ts';

accountExpiry({ isWhole: true });
