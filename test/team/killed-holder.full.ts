/** The same change while the lease of a killed process runs, killed around every call and request. */
import { killedHolder } from './killed-holder.ts';

killedHolder({ file: [9, 11, 13, 15, 17] });
