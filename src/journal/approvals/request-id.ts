/** Ids of requests: each is that of its op. */
import { CliError } from '../../core/errors.ts';

const OP_PREFIX = 'op_';
const ID_PREFIX = 'apr_';

/** An operation has one request. */
export function requestIdOf(op: string): string {
  return `${ID_PREFIX}${op.slice(OP_PREFIX.length)}`;
}

/** Throws `usage` for what is no id of a request. */
export function opOfRequest(id: string): string {
  if (/^apr_[0-9a-hjkmnp-tv-z]{26}$/.test(id)) return `${OP_PREFIX}${id.slice(ID_PREFIX.length)}`;
  throw new CliError('usage', {
    message: `${JSON.stringify(id)} is no request for approval; an id begins with apr_`,
    hint: 'cardwright approvals list',
    outcome: 'not_sent',
  });
}
