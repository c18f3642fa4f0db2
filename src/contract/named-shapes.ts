/** Every object of the wire by name: what `contract show` lists as `card.balance` and documents as `Card`. */
import { assumed, type Basis, type Section, stated } from './basis.ts';
import { CARD, CREATE_CARD, DETAILS, FUND_CARD, FUNDING, WITHDRAW_CARD } from './card.ts';
import { EVENT_ENVELOPE } from './events.ts';
import type { Shape } from './field.ts';
import * as resources from './resources.ts';

interface NamedShape {
  /** First part of a `fields` override; request bodies and variants of a resource have none. */
  readonly name?: string | undefined;
  /** Name of the schema in the OpenAPI document; none for the event envelope, which stands around its data there. */
  readonly title?: string | undefined;
  readonly section: Section;
  readonly shape: Shape;
  readonly use: 'answer' | 'request';
  readonly basis: Basis;
}

const named =
  (use: NamedShape['use']) =>
  (section: Section, title: string | undefined, shape: Shape, basis: Basis, name?: string): NamedShape => ({
    ...{ section, title, shape, basis, name, use },
  });
const shown = named('answer');
const sent = named('request');

/** In the order of the interface's sections. */
export const NAMED_SHAPES: readonly NamedShape[] = [
  shown('2.1', 'Card', CARD, stated('2.1'), 'card'),
  shown('2.2', 'Bin', resources.BIN, stated('2.2'), 'bin'),
  shown('2.3', 'Wallet', resources.WALLET, stated('2.3'), 'wallet'),
  shown('2.4', 'Challenge', resources.CHALLENGE, stated('2.4'), 'challenge'),
  shown('2.5', 'Transaction', resources.TRANSACTION, stated('2.5', 'A-40'), 'transaction'),
  shown('2.6', 'Webhook', resources.WEBHOOK, stated('2.6', 'A-70')),
  shown('2.6', 'WebhookWithSecret', resources.WEBHOOK_WITH_SECRET, stated('2.6', 'A-15'), 'webhook'),
  shown('2.7', 'Error', resources.ERROR_BODY, stated('2.7'), 'error'),
  shown('4', 'CardDetails', DETAILS, stated('4', 'A-30'), 'details'),
  shown('4', 'Funding', FUNDING, stated('4', 'A-31'), 'funding'),
  shown('4', 'Address', resources.ADDRESS, assumed('A-64'), 'address'),
  shown('4', 'PageMeta', resources.PAGE_META, assumed('A-21'), 'meta'),
  sent('4.1', 'CreateCard', CREATE_CARD, stated('4.1')),
  sent('4.3', 'FundCard', FUND_CARD, stated('4.3')),
  sent('4', 'WithdrawCard', WITHDRAW_CARD, assumed('A-09')),
  sent('4.5', 'CreateWebhook', resources.CREATE_WEBHOOK, stated('4.5')),
  sent('4', 'UpdateWebhook', resources.UPDATE_WEBHOOK, assumed('A-17')),
  shown('6', undefined, EVENT_ENVELOPE, assumed('A-73'), 'event'),
  shown('6', 'Deposit', resources.DEPOSIT, stated('6', 'A-65'), 'deposit'),
];

/** The row of a shape; undefined where it has no name. */
export function namedShape(shape: Shape): NamedShape | undefined {
  return NAMED_SHAPES.find(named => named.shape === shape);
}

/** Ids that the contract declares, and the address of a webhook. */
const DECLARED: ReadonlySet<string> = new Set([
  'url',
  ...NAMED_SHAPES.flatMap(({ shape }) => Object.keys(shape).filter(name => /^(?:.*_)?id$/.test(name))),
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
