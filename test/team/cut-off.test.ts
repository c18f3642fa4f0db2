/** See cut-off.ts. */
import { cutOff } from './cut-off.ts';

cutOff([
  { away: 'server', after: [8] },
  { away: 'cable', after: [1] },
]);
