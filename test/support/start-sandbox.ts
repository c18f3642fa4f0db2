/** `startSandbox` on the engine that tests run on. */

import { ACCOUNT } from '../../src/sandbox/service/service.ts';
import { type SandboxOptions, startSandbox as started } from '../../src/sandbox/serving/start.ts';
import { onPostgres, openAccount, openTestStore } from './test-store.ts';

export type { RunningSandbox, SandboxOptions } from '../../src/sandbox/serving/start.ts';

export const startSandbox = (options: SandboxOptions = {}) =>
  started({ ...options, ...(onPostgres && { open: request => openTestStore(request, ACCOUNT) }) });

/** The same on PostgreSQL, always. */
export const startOnPostgres = (options: SandboxOptions = {}) =>
  started({ ...options, open: request => openAccount(request, ACCOUNT) });
