/** See cut-off.ts; `cut-off.full.ts` has more places. */
import { cutOff } from './cut-off.ts';

cutOff([{ away: 'server', after: [8] }]);
