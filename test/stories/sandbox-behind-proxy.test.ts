/** Behind a proxy; `sandbox-behind-proxy.full.ts` has nginx. */
import { behindProxy } from './sandbox-behind-proxy.ts';

behindProxy({ isWhole: false });
