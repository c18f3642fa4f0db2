/** Output that is slow, full or closed; `streams.full.ts` has more formats and sizes. */
import { streams } from './streams.ts';

streams({ isWhole: false });
