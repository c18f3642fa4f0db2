/** The card argument, the same in every command about one card or several. */
import { argument, manyArguments } from '../../cli/flag.ts';
import { CARD_ID } from '../../contract/card.ts';

export const card = argument(CARD_ID);
export const cards = manyArguments(CARD_ID);
