/** Beside others in a shared journal; `unknown-beside-others.full.ts` has that of one machine, too. */
import { unknownBesideOthers } from './unknown-beside-others.ts';

unknownBesideOthers({ isWhole: false });
