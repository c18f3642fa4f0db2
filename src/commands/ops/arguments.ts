/** The operand of every command about one operation. */
import { argument, OURS } from '../../cli/parsing/flag.ts';
import { must, text } from '../../contract/field.ts';

export const op = argument(
  must(text({ doc: 'Id of an operation, op_ and 26 characters.', basis: OURS, maxLength: 29, names: 'op' })),
);
