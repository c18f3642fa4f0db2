/** deliveries.explain: whether a signature is that of a subscription over a text, and which usual mistake was made. */
import { explainMismatch } from '../../contract/signature/mistakes.ts';
import { matchSignature } from '../../contract/signature/signature.ts';
import { Secret } from '../../core/secret.ts';
import { Refused } from '../calls/handler.ts';
import type { MomentHandler } from '../service/service.ts';
import { webhookById } from '../store/webhooks.ts';

export const explainSignature: MomentHandler<'deliveries.explain'> = async ({ sql, account, now }, input) => {
  const webhook = await webhookById(sql, account, input.webhook_id);
  if (webhook === undefined) throw new Refused('not_found', `no webhook ${input.webhook_id}`);
  const { secret, former_secret: former, former_until: until } = webhook;
  const isFormerGood = former !== null && until !== null && until > now;
  const secrets = [secret, ...(isFormerGood ? [former] : [])].map(text => new Secret(text));
  const bytes = Buffer.from(input.body);
  const match = matchSignature(bytes, input.signature, secrets);
  if (match === undefined) {
    return { matches: false, secret: null, deviations: [], mistakes: explainMismatch(bytes, input.signature, secrets) };
  }
  const which = match.secret === 0 ? ('present' as const) : ('former' as const);
  return { matches: true, secret: which, deviations: match.deviations, mistakes: [] };
};
