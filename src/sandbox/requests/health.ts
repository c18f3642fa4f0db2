/**
 * That a sandbox answers, and that it is ours. Whoever found its address in a file sends no key before the server has
 * proved that it knows the admin token: the port may belong to another program by now.
 */
import { createHmac } from 'node:crypto';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import type { Secret } from '../../core/secret.ts';
import { type Answer, replyAnswer } from '../http/answer.ts';
import type { ParsedRequest } from '../http/request.ts';
import type { ServiceParts } from '../service/service.ts';

/**
 * HMAC-SHA256, lowercase hex. The port is part of it, so that a program on another port cannot pass on the answer of
 * the real server as its own; over a socket it is empty.
 */
export function proofOf(
  adminToken: Secret,
  { nonce, port }: { readonly nonce: string; readonly port: string },
): string {
  return createHmac('sha256', adminToken.expose()).update(`cardwright sandbox health\n${port}\n${nonce}`).digest('hex');
}

/** Nothing is counted or written for it. Throws `StoreBusy` when the store does not answer. */
async function healthOf({ store, version }: ServiceParts) {
  const row = await store.read(sql => sql.get<{ instance: string }>('select instance from meta where one = 1'));
  return { status: 'ok', version, instance: row?.instance ?? '' };
}

export async function healthAnswer(
  parts: ServiceParts,
  hosts: readonly string[],
  { query }: Pick<ParsedRequest, 'query'>,
): Promise<Answer> {
  const { nonce } = query;
  const port = hosts[0]?.split(':')[1] ?? '';
  const proof = typeof nonce === 'string' ? proofOf(parts.adminToken, { nonce, port }) : undefined;
  return replyAnswer(ADMIN_OPERATIONS.health, { ...(await healthOf(parts)), ...(proof !== undefined && { proof }) });
}
