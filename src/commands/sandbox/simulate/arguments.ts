/** Ids that simulations take. */
import { argument, OURS, optionalArgument } from '../../../cli/parsing/flag.ts';
import { text } from '../../../contract/field.ts';

const AUTHORIZATION = text({ doc: 'Authorization.', basis: OURS, names: 'transaction' });

export const authorization = argument(AUTHORIZATION);
export const maybeAuthorization = optionalArgument(AUTHORIZATION);
export const challenge = argument(text({ doc: 'Challenge.', basis: OURS, names: 'challenge' }));
export const deposit = argument(text({ doc: 'Deposit; the whole id.', basis: OURS }));
