/** The changes that `forgotten-key.test.ts` leaves out: with a marker, without one, the other way. */
import { resumedADayLater } from './forgotten-key.ts';

resumedADayLater([
  { operation: 'cards.create', words: ['create', '--bin', 'auto', '--amount', '25'], moved: -25 },
  { operation: 'cards.create', words: ['create', '--bin', 'auto', '--amount', '25', '--no-marker'], moved: -25 },
  { operation: 'cards.withdraw', words: ['withdraw', 'CARD', '--amount', '25'], moved: 25 },
]);
