/** What a killed listener and a killed lease left is taken away; `kill.full.ts` has other ends. */
import { killedWhileListening } from './kill.ts';

killedWhileListening({ isWhole: false });
