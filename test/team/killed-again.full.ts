/** Around each message of a command that sends what was approved; of a transfer before its request alone, for its quiet period is long. */
import { killedAgain } from './killed-again.ts';

killedAgain([
  { approved: 'create' },
  { approved: 'api' },
  { approved: 'file', at: [26] },
  { approved: 'fund', at: [26] },
]);
