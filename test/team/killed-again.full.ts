/** Around each message of a command that sends what was approved. */
import { killedAgain } from './killed-again.ts';

killedAgain([{ approved: 'create' }, { approved: 'api' }]);
