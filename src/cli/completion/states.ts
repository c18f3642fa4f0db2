/** Which cards an operation can act on. */
import { CARD_TRANSITIONS } from '../../contract/transitions.ts';

/** States the operation starts from; undefined when it asks for none. A terminated card has no details to show. */
export function statesFor(operation: string | undefined): readonly string[] | undefined {
  if (operation === 'cards.details') return ['active', 'frozen'];
  return CARD_TRANSITIONS.find(({ trigger }) => trigger === operation)?.from;
}
