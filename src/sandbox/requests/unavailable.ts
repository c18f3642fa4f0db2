/** Why a request is answered 503: nothing of it happened. In words for whoever sent it, and for whoever runs the server. */
import { isFull } from '../../engine/faults.ts';
import { PostgresRefusal } from '../../postgres/refusal.ts';
import type { ServiceParts } from '../service/service.ts';
import { StoreBusy } from '../store/sql.ts';

/** SQLSTATE: a lock that was not to be had, a statement that was stopped, two transactions in each other's way. */
const IN_EACH_OTHERS_WAY = ['55P03', '57014', '40001', '40P01'];

/** What began it. */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error;
}

/** Whether the database of a team's sandbox cannot be used: it is down, only reads, or lets this server in no longer. */
export function isDatabaseAway(error: unknown): boolean {
  const root = rootOf(error);
  if (root instanceof PostgresRefusal) return !IN_EACH_OTHERS_WAY.includes(root.code);
  return root instanceof Error && !(root instanceof StoreBusy);
}

/** SQLSTATE 53100. Reads that are not counted go on, so that nothing else tells. */
export function isDatabaseFull(error: unknown): boolean {
  const root = rootOf(error);
  return root instanceof PostgresRefusal && root.code === '53100';
}

/** For whoever runs the server: what the system or the database said, with its SQLSTATE. */
export function whyAway(error: unknown): string {
  const root = rootOf(error);
  const text = root instanceof Error ? root.message : String(root);
  return root instanceof PostgresRefusal ? `${text} (SQLSTATE ${root.code})` : text;
}

/** For whoever sent the request, who may not run the server. */
export function whyUnavailable(error: StoreBusy, { isShared }: Pick<ServiceParts, 'isShared'>): string {
  if (isFull(error.cause) || isDatabaseFull(error))
    return 'The disk of the store is full; nothing of the request happened. Try again when it has room.';
  if (isShared !== true || !isDatabaseAway(error)) return 'The store is busy; nothing of the request happened.';
  return 'This server of the sandbox cannot use its database now; nothing of the request happened. Try again later. The log of the server has the reason.';
}
