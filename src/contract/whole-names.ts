/** Names under which a value stays whole although its digits could be those of a card: the next command needs it. */
import { CARD, DETAILS, FUNDING } from './card.ts';
import { EVENT_ENVELOPE } from './events.ts';
import type { Shape } from './field.ts';
import { BIN, CHALLENGE, DEPOSIT, ERROR_BODY, TRANSACTION, WEBHOOK } from './resources.ts';

const SHAPES: readonly Shape[] = [
  ...[CARD, DETAILS, FUNDING, BIN, CHALLENGE, DEPOSIT],
  ...[TRANSACTION, WEBHOOK, EVENT_ENVELOPE, ERROR_BODY],
];

/** Ids that the contract declares, and the address of a webhook. */
const DECLARED: ReadonlySet<string> = new Set([
  'url',
  ...SHAPES.flatMap(shape => Object.keys(shape).filter(name => /^(?:.*_)?id$/.test(name))),
]);

/** What this program writes into the metadata of a card, to find it again. */
const OURS = /^cardwright/;

/**
 * Whether digits under that name are an id of the contract, as it is written there or as `cardId`. An id that the
 * contract does not know is a text like any other.
 */
export function staysWhole(name: string): boolean {
  return DECLARED.has(name) || DECLARED.has(name.replace(/[A-Z]/g, '_$&').toLowerCase()) || OURS.test(name);
}
