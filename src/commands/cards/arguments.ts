/** Operands and flags that are the same in every command about one card or several. */
import { argument, manyArguments, OURS, option, typedOnly } from '../../cli/parsing/flag.ts';
import { CARD_ID } from '../../contract/card.ts';
import { flag } from '../../contract/field.ts';

export const card = argument(CARD_ID);
export const cards = manyArguments(CARD_ID);

/** Of the commands that hand a card to a program. */
export const PROGRAM_FLAGS = {
  reveal: typedOnly(option(flag({ doc: 'Confirm the reveal without typing the last four digits.', basis: OURS }))),
  mask: option(flag({ doc: 'Hide number and CVV in the log of GitHub Actions first.', basis: OURS })),
} as const;
