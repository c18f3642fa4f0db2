/** The whole of `sandbox-accounts.test.ts`. */
import { twoServers } from './sandbox-accounts.ts';

twoServers({ isWhole: true });
