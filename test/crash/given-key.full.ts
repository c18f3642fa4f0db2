/** The same purchase six times under one name. */
import { sixAtOnce } from './given-key.ts';

const amountOf = () => 100;

sixAtOnce([
  { what: 'that are all the same', amountOf, named: false },
  { what: 'with one intent that are all the same', amountOf, named: true },
]);
