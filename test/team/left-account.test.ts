/** One machine goes on alone and comes back; `left-account.full.ts` has what ends otherwise. */
import { leftAccount } from './left-account.ts';

leftAccount({ isWhole: false });
