/** The whole of `invariants.test.ts`. */
import { findsDamage } from './invariants.ts';

findsDamage({ isWhole: true });
