/** Two of the redirects; `redirects.full.ts` has all. */
import { redirects } from './redirects.ts';

redirects({ isWhole: false });
