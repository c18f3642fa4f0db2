/** Every object of the wire by name: what `contract show` lists as `card.balance` and documents as `Card`. */
import { assumed, type Basis, type Section, stated } from './basis.ts';
import { CARD, CREATE_CARD, DETAILS, FUND_CARD, FUNDING, WITHDRAW_CARD } from './card.ts';
import { EVENT_ENVELOPE } from './events.ts';
import type { Shape } from './field.ts';
import {
  ADDRESS,
  BIN,
  CHALLENGE,
  CREATE_WEBHOOK,
  DEPOSIT,
  ERROR_BODY,
  PAGE_META,
  TRANSACTION,
  UPDATE_WEBHOOK,
  WALLET,
  WEBHOOK,
  WEBHOOK_WITH_SECRET,
} from './resources.ts';

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

/** In the order of the interface's sections. */
export const NAMED_SHAPES: readonly NamedShape[] = [
  { section: '2.1', name: 'card', title: 'Card', use: 'answer', shape: CARD, basis: stated('2.1') },
  { section: '2.2', name: 'bin', title: 'Bin', use: 'answer', shape: BIN, basis: stated('2.2') },
  { section: '2.3', name: 'wallet', title: 'Wallet', use: 'answer', shape: WALLET, basis: stated('2.3') },
  { section: '2.4', name: 'challenge', title: 'Challenge', use: 'answer', shape: CHALLENGE, basis: stated('2.4') },
  {
    section: '2.5',
    name: 'transaction',
    title: 'Transaction',
    use: 'answer',
    shape: TRANSACTION,
    basis: stated('2.5', 'A-40'),
  },
  { section: '2.6', title: 'Webhook', use: 'answer', shape: WEBHOOK, basis: stated('2.6', 'A-70') },
  {
    section: '2.6',
    name: 'webhook',
    title: 'WebhookWithSecret',
    use: 'answer',
    shape: WEBHOOK_WITH_SECRET,
    basis: stated('2.6', 'A-15'),
  },
  { section: '2.7', name: 'error', title: 'Error', use: 'answer', shape: ERROR_BODY, basis: stated('2.7') },
  { section: '4', name: 'details', title: 'CardDetails', use: 'answer', shape: DETAILS, basis: stated('4', 'A-30') },
  { section: '4', name: 'funding', title: 'Funding', use: 'answer', shape: FUNDING, basis: stated('4', 'A-31') },
  { section: '4', name: 'address', title: 'Address', use: 'answer', shape: ADDRESS, basis: assumed('A-64') },
  { section: '4', name: 'meta', title: 'PageMeta', use: 'answer', shape: PAGE_META, basis: assumed('A-21') },
  { section: '4.1', title: 'CreateCard', use: 'request', shape: CREATE_CARD, basis: stated('4.1') },
  { section: '4.3', title: 'FundCard', use: 'request', shape: FUND_CARD, basis: stated('4.3') },
  { section: '4', title: 'WithdrawCard', use: 'request', shape: WITHDRAW_CARD, basis: assumed('A-09') },
  { section: '4.5', title: 'CreateWebhook', use: 'request', shape: CREATE_WEBHOOK, basis: stated('4.5') },
  { section: '4', title: 'UpdateWebhook', use: 'request', shape: UPDATE_WEBHOOK, basis: assumed('A-17') },
  { section: '6', name: 'event', use: 'answer', shape: EVENT_ENVELOPE, basis: assumed('A-73') },
  { section: '6', name: 'deposit', title: 'Deposit', use: 'answer', shape: DEPOSIT, basis: stated('6', 'A-65') },
];

/** The row of a shape; undefined where it has no name. */
export function namedShape(shape: Shape): NamedShape | undefined {
  return NAMED_SHAPES.find(named => named.shape === shape);
}
