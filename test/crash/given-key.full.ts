/** The same purchase six times under one name, and others under one key. */
import { sixAtOnce } from './given-key.ts';

const amountOf = () => 100;

sixAtOnce([
  { what: 'with other amounts', amountOf: nth => 100 + nth, named: false },
  { what: 'that are all the same', amountOf, named: false },
  { what: 'with one intent that are all the same', amountOf, named: true },
]);
