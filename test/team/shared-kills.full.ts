/** The sweeps around every call: keys that are ignored or honoured, and a file. */
import { sharedKills } from './shared-kills.ts';

sharedKills([
  { honoured: false, rows: 1 },
  { honoured: true, rows: 1 },
  { honoured: false, rows: 3 },
]);
