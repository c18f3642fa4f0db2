/** Behind the call that takes an approved op up, before its request and behind it. */
import { killedAgain } from './killed-again.ts';

killedAgain([
  { approved: 'create', at: [22, 36] },
  { approved: 'api', at: [36] },
  { approved: 'fund', at: [26] },
  { approved: 'file', at: [26] },
]);
