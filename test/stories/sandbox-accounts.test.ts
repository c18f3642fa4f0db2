/** Two servers of accounts; `sandbox-accounts.full.ts` has what waits in them. */
import { twoServers } from './sandbox-accounts.ts';

twoServers({ isWhole: false });
