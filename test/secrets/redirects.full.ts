/** The whole of `redirects.test.ts`. */
import { redirects } from './redirects.ts';

redirects({ isWhole: true });
