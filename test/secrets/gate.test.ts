/** What a pipe says is no answer; `gate.full.ts` says it to every command that reveals. */
import { gate } from './gate.ts';

gate({ isWhole: false });
