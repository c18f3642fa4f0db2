/** The rules that meet deliveries to subscriptions: twice, out of order, later. */
import type { DeliveryAction } from '../../contract/sandbox/faults.ts';
import type { DeliveryFaults } from '../delivery/parts.ts';
import { activeFaults } from '../store/requests.ts';
import { firstApplied } from './rules.ts';

/** Asked by the delivery worker in the transaction that would claim a delivery; counts the rule down there. */
export const deliveryFaults: DeliveryFaults = async ({ sql, account, now, event, webhookId }) => {
  const rows = await activeFaults(sql, account, { meets: 'deliveries', now });
  const struck = await firstApplied(sql, account, {
    rows,
    matches: match =>
      (match.event === undefined || match.event === event) &&
      (match.webhook_id === undefined || match.webhook_id === webhookId),
  });
  if (struck === undefined) return undefined;
  const action = struck.rule.action as DeliveryAction;
  switch (action.kind) {
    case 'duplicate_delivery':
      return { kind: 'duplicate' };
    case 'reorder_deliveries':
      return { kind: 'reorder', window: action.window };
    case 'delay_delivery':
      return { kind: 'delay', ms: action.ms };
  }
};
