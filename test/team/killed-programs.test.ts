/** A program that is killed while its request is on its way; `killed-programs.full.ts` has every message. */
import { killedPrograms } from './killed-programs.ts';

killedPrograms([{ call: 'create', at: [14] }]);
