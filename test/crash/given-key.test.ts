/** Other purchases under one name: the sharpest of them; `given-key.full.ts` has others. */
import { sixAtOnce } from './given-key.ts';

const amountOf = (nth: number) => 100 + nth;

sixAtOnce([{ what: 'with one intent and other amounts', amountOf, named: true }]);
