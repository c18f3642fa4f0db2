/** The other sweeps: keys that are honoured, and a file. */
import { sharedKills } from './shared-kills.ts';

sharedKills([
  { honoured: true, rows: 1 },
  { honoured: false, rows: 3 },
]);
