/** A request as a file, for a pull request: the bytes to be signed, and every request that would be sent. */
import { CliError } from '../../core/errors.ts';
import { base64 } from './envelope.ts';
import { type ApprovalPayload, type PlannedItem, planDigest, readPayload } from './payload.ts';

/** A request whose rows are those that its bytes name. */
export interface CheckedRequest {
  readonly payload: ApprovalPayload;
  /** What is signed. */
  readonly bytes: Uint8Array;
  readonly items: readonly PlannedItem[];
}

const TYPE = 'cardwright-approval-request';

export function requestFile({ bytes, items }: Pick<CheckedRequest, 'bytes' | 'items'>): string {
  const payload = Buffer.from(bytes).toString('base64');
  return `${JSON.stringify({ type: TYPE, v: 1, payload, items }, undefined, 2)}\n`;
}

/** Throws `usage` for another file, `check_failed` for one whose rows are not what would be signed. */
export function readRequestFile(text: string, name: string): CheckedRequest {
  const { type, payload, items } = documentIn(text);
  const bytes = base64(payload);
  if (type !== TYPE || bytes === undefined || !Array.isArray(items)) {
    throw new CliError('usage', {
      message: `${name} is no request for approval`,
      hint: 'cardwright approvals show --help',
      outcome: 'not_sent',
    });
  }
  return checkedRequest(bytes, items as PlannedItem[]);
}

/** Throws `check_failed` where the rows are not those of the bytes. */
export function checkedRequest(bytes: Uint8Array, items: readonly PlannedItem[]): CheckedRequest {
  const payload = readPayload(bytes);
  const isSame = items.length === payload.rows && planDigest(items) === payload.plan_sha256;
  const isNamed = payload.targets.every(({ row, card_id: card }) => {
    const item = items.find(each => each.row === row);
    return item !== undefined && (card === undefined || `${item.path} ${item.body ?? ''}`.includes(card));
  });
  if (isSame && isNamed) return { payload, bytes, items };
  throw new CliError('check_failed', {
    message: `the rows of ${payload.id} are not those that were asked for; do not approve it`,
    reason: 'approval_plan',
    hint: 'cardwright approvals list',
    outcome: 'not_sent',
    op: payload.op,
  });
}

function documentIn(text: string): { readonly type?: unknown; readonly payload?: unknown; readonly items?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
