/** See cut-off.ts: at more places, and with pgbouncer between. */
import { cutOff } from './cut-off.ts';

cutOff([
  { away: 'server', after: [1, 15, 29] },
  { away: 'cable', after: [1, 2, 11, 29] },
  { away: 'pgbouncer', after: [1, 15, 29] },
]);
