/** Ids that simulations take. */
import { argument, OURS } from '../../../cli/flag.ts';
import { text } from '../../../contract/field.ts';

export const authorization = argument(text({ doc: 'Authorization.', basis: OURS }));
export const challenge = argument(text({ doc: 'Challenge.', basis: OURS }));
export const deposit = argument(text({ doc: 'Deposit.', basis: OURS }));
