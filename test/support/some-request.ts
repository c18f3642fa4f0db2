/** The file of a request for one card, such as `--approval-out` writes it. */
import { type ApprovalPayload, payloadText, planDigest } from '../../src/journal/approvals/payload.ts';
import { requestFile } from '../../src/journal/approvals/request-file.ts';

export const SOME_OP = 'op_0000000000000000000000000a';

export function someRequest(changes: Partial<ApprovalPayload> = {}): string {
  const body = '{"amount":25}';
  const items = [{ row: 1, operation: 'cards.fund', method: 'POST', path: '/cards/card_1/fund', body, key: 'key-1' }];
  const payload: ApprovalPayload = {
    type: 'cardwright-approval',
    v: 1,
    id: SOME_OP.replace('op_', 'apr_'),
    journal: 'jrn_gh',
    account: 'team',
    origin: 'https://api.example.com/v1',
    mode: 'test',
    op: SOME_OP,
    command: 'cards fund',
    rows: 1,
    cents: 2500,
    largest_cents: 2500,
    irreversible: false,
    targets: [{ row: 1, card_id: 'card_1', last4: '4821', label: 'ads' }],
    plan_sha256: planDigest(items),
    rule: 'approve_above is $20.00, and $25.00 are asked for',
    needed: 1,
    requested_by: 'ci@runner',
    requested_at: '2026-11-20T14:03:11Z',
    expires_at: '2026-11-21T14:03:11Z',
    ...changes,
  };
  return requestFile({ bytes: Buffer.from(payloadText(payload)), items });
}
