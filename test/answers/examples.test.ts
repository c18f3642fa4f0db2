/** The first example of every command's help; `examples.full.ts` runs all. */
import { everyExample } from './examples.ts';

everyExample({ isWhole: false });
