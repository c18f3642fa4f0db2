/** One damage that breaks each invariant; `invariants.full.ts` has all of them. */
import { findsDamage } from './invariants.ts';

findsDamage({ isWhole: false });
