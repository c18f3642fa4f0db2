/** The whole of `same-account.test.ts`. */
import { sameAccount } from './same-account.ts';

sameAccount({ isWhole: true });
