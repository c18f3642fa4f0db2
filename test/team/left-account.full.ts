/** The whole of `left-account.test.ts`. */
import { leftAccount } from './left-account.ts';

leftAccount({ isWhole: true });
