/** One card over a shared journal, killed around every second call: the sharpest of the sweeps. */
import { sharedKills } from './shared-kills.ts';

sharedKills([{ honoured: false, rows: 1, step: 2 }]);
