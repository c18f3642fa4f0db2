/** Creates, funds, files and leases, whatever keeps the journal from taking anything, and whatever comes first. */
import { killedFrozen } from './killed-frozen.ts';

killedFrozen(
  [
    { kind: 'create', how: 'frozen', contact: 'journal push' },
    { kind: 'create', how: 'moved', contact: 'ops resume' },
    { kind: 'create', how: 'lost', contact: 'journal push' },
    { kind: 'fund', how: 'moved', contact: 'journal push' },
    { kind: 'fund', how: 'frozen', contact: 'ops resume' },
    { kind: 'file', how: 'frozen', contact: 'ops resume' },
    { kind: 'row', how: 'lost', contact: 'journal push' },
    { kind: 'lease', how: 'moved', contact: 'journal push' },
  ],
  { isLong: true },
);
