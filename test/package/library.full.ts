/** The whole of `library.test.ts`. */
import { builtLibrary } from './library.ts';

builtLibrary({ isWhole: true });
