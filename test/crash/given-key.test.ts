/** Other purchases under one name: the sharpest of them; `given-key.full.ts` has the same purchase six times. */
import { sixAtOnce } from './given-key.ts';

const amountOf = (nth: number) => 100 + nth;

sixAtOnce([
  { what: 'with other amounts', amountOf, named: false },
  { what: 'with one intent and other amounts', amountOf, named: true },
]);
