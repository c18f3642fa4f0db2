/** A change that leaves a marker, and one that leaves balances alone; `forgotten-key.full.ts` has others. */
import { resumedADayLater } from './forgotten-key.ts';

resumedADayLater([
  { operation: 'cards.create', words: ['create', '--bin', 'auto', '--amount', '25'], moved: -25 },
  { operation: 'cards.fund', words: ['fund', 'CARD', '--amount', '25'], moved: -25 },
]);
