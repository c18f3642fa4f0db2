/** A change that leaves balances alone to tell it by; `forgotten-key.full.ts` has others. */
import { resumedADayLater } from './forgotten-key.ts';

resumedADayLater([{ operation: 'cards.fund', words: ['fund', 'CARD', '--amount', '25'], moved: -25 }]);
