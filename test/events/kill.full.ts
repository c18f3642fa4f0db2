/** The whole of `kill.test.ts`. */
import { killedWhileListening } from './kill.ts';

killedWhileListening({ isWhole: true });
