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

type Title = string | undefined;
const answer = (section: Section, name: Title, title: Title, shape: Shape, basis: Basis): NamedShape => ({
  section,
  name,
  title,
  shape,
  basis,
  use: 'answer',
});
const request = (section: Section, title: Title, shape: Shape, basis: Basis): NamedShape => ({
  section,
  title,
  shape,
  basis,
  use: 'request',
});

/** In the order of the interface's sections. */
export const NAMED_SHAPES: readonly NamedShape[] = [
  answer('2.1', 'card', 'Card', CARD, stated('2.1')),
  answer('2.2', 'bin', 'Bin', BIN, stated('2.2')),
  answer('2.3', 'wallet', 'Wallet', WALLET, stated('2.3')),
  answer('2.4', 'challenge', 'Challenge', CHALLENGE, stated('2.4')),
  answer('2.5', 'transaction', 'Transaction', TRANSACTION, stated('2.5', 'A-40')),
  answer('2.6', undefined, 'Webhook', WEBHOOK, stated('2.6', 'A-70')),
  answer('2.6', 'webhook', 'WebhookWithSecret', WEBHOOK_WITH_SECRET, stated('2.6', 'A-15')),
  answer('2.7', 'error', 'Error', ERROR_BODY, stated('2.7')),
  answer('4', 'details', 'CardDetails', DETAILS, stated('4', 'A-30')),
  answer('4', 'funding', 'Funding', FUNDING, stated('4', 'A-31')),
  answer('4', 'address', 'Address', ADDRESS, assumed('A-64')),
  answer('4', 'meta', 'PageMeta', PAGE_META, assumed('A-21')),
  request('4.1', 'CreateCard', CREATE_CARD, stated('4.1')),
  request('4.3', 'FundCard', FUND_CARD, stated('4.3')),
  request('4', 'WithdrawCard', WITHDRAW_CARD, assumed('A-09')),
  request('4.5', 'CreateWebhook', CREATE_WEBHOOK, stated('4.5')),
  request('4', 'UpdateWebhook', UPDATE_WEBHOOK, assumed('A-17')),
  answer('6', 'event', undefined, EVENT_ENVELOPE, assumed('A-73')),
  answer('6', 'deposit', 'Deposit', DEPOSIT, stated('6', 'A-65')),
];
