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
  readonly name?: string;
  /** Name of the schema in the OpenAPI document; none for the event envelope, which stands around its data there. */
  readonly title?: string;
  readonly section: Section;
  readonly shape: Shape;
  readonly use: 'answer' | 'request';
  readonly basis: Basis;
}

const answer = { use: 'answer' } as const;
const request = { use: 'request' } as const;

/** In the order of the interface's sections. */
export const NAMED_SHAPES: readonly NamedShape[] = [
  { ...answer, name: 'card', title: 'Card', section: '2.1', shape: CARD, basis: stated('2.1') },
  { ...answer, name: 'bin', title: 'Bin', section: '2.2', shape: BIN, basis: stated('2.2') },
  { ...answer, name: 'wallet', title: 'Wallet', section: '2.3', shape: WALLET, basis: stated('2.3') },
  { ...answer, name: 'challenge', title: 'Challenge', section: '2.4', shape: CHALLENGE, basis: stated('2.4') },
  {
    ...answer,
    name: 'transaction',
    title: 'Transaction',
    section: '2.5',
    shape: TRANSACTION,
    basis: stated('2.5', 'A-40'),
  },
  { ...answer, title: 'Webhook', section: '2.6', shape: WEBHOOK, basis: stated('2.6', 'A-70') },
  {
    ...answer,
    name: 'webhook',
    title: 'WebhookWithSecret',
    section: '2.6',
    shape: WEBHOOK_WITH_SECRET,
    basis: stated('2.6', 'A-15'),
  },
  { ...answer, name: 'error', title: 'Error', section: '2.7', shape: ERROR_BODY, basis: stated('2.7') },
  { ...answer, name: 'details', title: 'CardDetails', section: '4', shape: DETAILS, basis: stated('4', 'A-30') },
  { ...answer, name: 'funding', title: 'Funding', section: '4', shape: FUNDING, basis: stated('4', 'A-31') },
  { ...answer, name: 'address', title: 'Address', section: '4', shape: ADDRESS, basis: assumed('A-64') },
  { ...answer, name: 'meta', title: 'PageMeta', section: '4', shape: PAGE_META, basis: assumed('A-21') },
  { ...request, title: 'CreateCard', section: '4.1', shape: CREATE_CARD, basis: stated('4.1') },
  { ...request, title: 'FundCard', section: '4.3', shape: FUND_CARD, basis: stated('4.3') },
  { ...request, title: 'WithdrawCard', section: '4', shape: WITHDRAW_CARD, basis: assumed('A-09') },
  { ...request, title: 'CreateWebhook', section: '4.5', shape: CREATE_WEBHOOK, basis: stated('4.5') },
  { ...request, title: 'UpdateWebhook', section: '4', shape: UPDATE_WEBHOOK, basis: assumed('A-17') },
  { ...answer, name: 'event', section: '6', shape: EVENT_ENVELOPE, basis: assumed('A-73') },
  { ...answer, name: 'deposit', title: 'Deposit', section: '6', shape: DEPOSIT, basis: stated('6', 'A-65') },
];
