/** The library by import, and its pages; `library.full.ts` has other ways to load it. */
import { builtLibrary } from './library.ts';

builtLibrary({ isWhole: false });
