/** Behind the call that takes an approved op up, before its request and behind it. */
import { killedAgain } from './killed-again.ts';

killedAgain([{ approved: 'create', at: [36] }]);
