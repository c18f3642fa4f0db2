/** A freeze before a resume, and a failover before a push. */
import { killedFrozen } from './killed-frozen.ts';

killedFrozen([
  { kind: 'create', how: 'frozen', contact: 'ops resume' },
  { kind: 'create', how: 'moved', contact: 'journal push' },
]);
