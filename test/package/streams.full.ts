/** The whole of `streams.test.ts`. */
import { streams } from './streams.ts';

streams({ isWhole: true });
