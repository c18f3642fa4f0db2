/** The whole of `sandbox-behind-proxy.test.ts`. */
import { behindProxy } from './sandbox-behind-proxy.ts';

behindProxy({ isWhole: true });
