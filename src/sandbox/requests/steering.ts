/**
 * Operations of the admin surface that take many transactions of their own, or concern the server and not what it
 * stores. Every other is one transaction, in a handler.
 */
import type { DialectName } from '../../contract/sandbox-faults.ts';
import { listSnapshots, removeSnapshot, restoreSnapshot, saveSnapshot } from '../archive/operations.ts';
import { advanceClock } from '../clock/advance.ts';
import { impossible } from '../handler.ts';
import type { Steering } from '../service.ts';
import { createKey, listKeys } from './keys.ts';
import { listRequests, verifyRequests } from './looking.ts';

export const STEERING: Steering = {
  'clock.advance': advanceClock,
  requests: listRequests,
  'requests.verify': verifyRequests,
  'dialect.show': async ({ speech }) => speech.facts,
  'dialect.set': async ({ speech }, { dialect }: { readonly dialect: DialectName }) => {
    speech.use(dialect);
    return speech.facts;
  },
  stop: async ({ onStop, pid }) => {
    if (onStop === undefined) throw impossible('This sandbox ends with the program it serves.');
    onStop();
    return { pid };
  },
  keys: listKeys,
  'keys.create': createKey,
  snapshots: listSnapshots,
  'snapshots.save': saveSnapshot,
  'snapshots.restore': restoreSnapshot,
  'snapshots.remove': removeSnapshot,
  // Loaded when asked for: no command needs them.
  openapi: async () => (await import('../../contract/openapi.ts')).openApiDocument(),
  'openapi.sandbox': async ({ version }) =>
    (await import('../../contract/openapi-sandbox.ts')).sandboxOpenApiDocument(version),
};
