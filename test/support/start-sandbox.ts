/** `startSandbox` on the engine that tests run on. */

import { ACCOUNT } from '../../src/sandbox/service/service.ts';
import { type SandboxOptions, startSandbox as started } from '../../src/sandbox/serving/start.ts';
import { onPostgres, openTestStore } from './test-store.ts';

export type { RunningSandbox, SandboxOptions } from '../../src/sandbox/serving/start.ts';

export const startSandbox = (options: SandboxOptions = {}) =>
  started({ ...options, ...(onPostgres && { open: request => openTestStore(request, ACCOUNT) }) });
