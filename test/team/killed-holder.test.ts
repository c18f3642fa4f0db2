/** The same change while the lease of a killed process runs: around the request, behind the outcome, and behind its END. */
import { killedHolder } from './killed-holder.ts';

killedHolder({ single: [7, 9, 11], named: [10], file: [13] });
