/** The whole of `unknown-beside-others.test.ts`. */
import { unknownBesideOthers } from './unknown-beside-others.ts';

unknownBesideOthers({ isWhole: true });
