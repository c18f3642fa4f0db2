/** The idempotency key a caller may choose for an operation that moves money (interface 5, A-98). */
import { OURS, option } from '../../cli/parsing/flag.ts';
import { text } from '../../contract/field.ts';

export const idempotencyKey = option(
  text({ doc: 'Your own idempotency key; a new one by default.', basis: OURS, maxLength: 64 }),
  '<key>',
);
