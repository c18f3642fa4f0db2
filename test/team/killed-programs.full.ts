/** A create and a fund of a program, killed around each of its messages. */
import { killedPrograms } from './killed-programs.ts';

killedPrograms([{ call: 'create' }, { call: 'fund' }]);
