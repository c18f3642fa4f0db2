/** The whole of `not-ordinary-files.test.ts`. */
import { notOrdinaryFiles } from './not-ordinary-files.ts';

notOrdinaryFiles({ isWhole: true });
