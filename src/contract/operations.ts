/** Interface 4: every operation, in the order of its table. Nothing outside `contract/` knows a path or a method. */
import { assumed, stated } from './basis.ts';
import { CARD, CARD_ID, CARD_STATUSES, CREATE_CARD, DETAILS, FUND_CARD, FUNDING, WITHDRAW_CARD } from './card.ts';
import { choice, integer, text, time } from './field.ts';
import { LIMITS, within } from './limits.ts';
import { knownEvents, listOf, nothing, one, pageOf, rowsWith } from './operation.ts';
import * as resources from './resources.ts';

const card = { card_id: CARD_ID };
const webhook = { webhook_id: resources.WEBHOOK_ID };
const page = integer('Page number.', stated('8'), within(LIMITS.page));
const cardFilter = (section: '4.4' | '4') => text('Only for this card.', stated(section), { names: 'card' });
const range = (doc: string) => time(doc, stated('4.4', 'A-26'));

const operation = rowsWith({ section: '4' });
/** What changes nothing and reveals nothing. */
const reading = rowsWith({ section: '4', effect: 'read', repeat: 'freely' });
/** What changes one card, and what leads it to a state. */
const ofCard = rowsWith({ section: '4', params: card });
const toState = rowsWith({ section: '4', params: card, readBack: 'cards.get' });

export const OPERATIONS = {
  'bins.list': reading('List the BINs cards can be issued from', 'GET /bins', {
    basis: stated('4'),
    returns: listOf(resources.BIN, stated('4', 'A-135')),
  }),
  'cards.create': operation('Issue a card and fund it from the wallet', 'POST /cards', {
    section: '4.1',
    basis: stated('4'),
    effect: 'moves-money',
    repeat: 'with-key',
    body: CREATE_CARD,
    returns: one(CARD, stated('4', 'A-02'), 201),
    fails: ['insufficient_funds', 'invalid_request', 'bin_not_found'],
    emits: ['card.created'],
    makes: 'card',
  }),
  'cards.list': reading('List cards', 'GET /cards', {
    section: '4.2',
    basis: assumed('A-01'),
    query: {
      status: choice(CARD_STATUSES, 'Only cards in this state.', stated('4.2')),
      bin_id: text('Only cards of this BIN.', stated('4.2'), { names: 'bin' }),
      page,
      per_page: integer('Rows a page.', stated('4.2'), within(LIMITS.pageSize)),
    },
    returns: pageOf(CARD, assumed('A-20')),
    fails: ['invalid_request'],
  }),
  'cards.get': reading('Show one card without its number', 'GET /cards/{card_id}', {
    basis: stated('4', 'A-03'),
    params: card,
    returns: one(CARD, stated('4')),
    fails: ['not_found'],
  }),
  'cards.details': operation('Reveal number, CVV and expiry of a card', 'GET /cards/{card_id}/details', {
    basis: stated('4', 'A-04'),
    effect: 'reveals-secret',
    repeat: 'freely',
    alsoReadBy: ['POST'],
    params: card,
    returns: one(DETAILS, stated('4', 'A-30')),
    fails: ['not_found', 'card_terminated', 'rate_limited'],
  }),
  'cards.freeze': toState('Suspend all transactions of a card', 'POST /cards/{card_id}/freeze', {
    basis: assumed('A-05'),
    effect: 'reversible',
    repeat: 'freely',
    returns: one(CARD, assumed('A-33')),
    fails: ['not_found', 'card_already_frozen', 'card_terminated'],
    emits: ['card.frozen'],
    leadsTo: { field: 'status', value: 'frozen' },
  }),
  'cards.unfreeze': toState('Let a frozen card transact again', 'POST /cards/{card_id}/unfreeze', {
    basis: assumed('A-06'),
    effect: 'reversible',
    repeat: 'never',
    returns: one(CARD, stated('4')),
    fails: ['not_found', 'card_not_frozen', 'card_terminated'],
    emits: ['card.unfrozen'],
    leadsTo: { field: 'status', value: 'active' },
  }),
  'cards.terminate': toState(
    'End a card for good; its balance returns to the wallet',
    'POST /cards/{card_id}/terminate',
    {
      basis: assumed('A-07'),
      effect: 'irreversible',
      repeat: 'freely',
      returns: one(CARD, assumed('A-07')),
      fails: ['not_found', 'card_terminated'],
      emits: ['card.terminated'],
      leadsTo: { field: 'status', value: 'terminated' },
    },
  ),
  'cards.fund': ofCard('Move money from the wallet to a card', 'POST /cards/{card_id}/fund', {
    section: '4.3',
    basis: assumed('A-08'),
    effect: 'moves-money',
    repeat: 'with-key',
    body: FUND_CARD,
    returns: one(FUNDING, stated('4', 'A-31')),
    fails: ['insufficient_funds', 'invalid_request', 'not_found', 'card_terminated', 'card_expired'],
    emits: ['card.funded'],
    transfer: 'to-card',
  }),
  'cards.withdraw': ofCard('Move money from a card back to the wallet', 'POST /cards/{card_id}/withdraw', {
    basis: assumed('A-09'),
    effect: 'moves-money',
    repeat: 'with-key',
    body: WITHDRAW_CARD,
    returns: one(FUNDING, assumed('A-32')),
    fails: ['insufficient_card_funds', 'invalid_request', 'not_found', 'card_terminated'],
    transfer: 'to-wallet',
  }),
  'transactions.list': reading('List transactions', 'GET /transactions', {
    section: '4.4',
    basis: assumed('A-10'),
    query: {
      card_id: cardFilter('4.4'),
      type: choice(resources.TRANSACTION_TYPES, 'Only this kind.', stated('4.4')),
      from: range('Start date.'),
      to: range('End date.'),
      page,
    },
    returns: pageOf(resources.TRANSACTION, assumed('A-20')),
    fails: ['invalid_request'],
  }),
  'wallet.get': reading('Show the wallet', 'GET /wallet', {
    basis: assumed('A-11'),
    returns: one(resources.WALLET, stated('4')),
  }),
  'wallet.addresses': reading('List the deposit addresses of the wallet', 'GET /wallet/deposit-addresses', {
    basis: assumed('A-12'),
    query: { currency: resources.CURRENCY },
    returns: listOf(resources.ADDRESS, assumed('A-12')),
    fails: ['invalid_request'],
  }),
  'challenges.list': reading('List open 3DS challenges with their codes', 'GET /3ds/challenges', {
    basis: assumed('A-14'),
    query: {
      card_id: cardFilter('4'),
      status: text('Only challenges in this state.', stated('4', 'A-55')),
    },
    returns: listOf(resources.CHALLENGE, stated('4', 'A-54')),
  }),
  'webhooks.create': operation('Subscribe an endpoint to events', 'POST /webhooks', {
    section: '4.5',
    basis: assumed('A-15'),
    effect: 'reversible',
    repeat: 'never',
    body: resources.CREATE_WEBHOOK,
    together: knownEvents,
    returns: one(resources.WEBHOOK_WITH_SECRET, assumed('A-15'), 201),
    fails: ['invalid_request'],
    makes: 'webhook',
  }),
  'webhooks.list': reading('List subscriptions', 'GET /webhooks', {
    basis: assumed('A-16'),
    returns: listOf(resources.WEBHOOK, assumed('A-16')),
  }),
  'webhooks.get': reading('Show one subscription', 'GET /webhooks/{webhook_id}', {
    basis: assumed('A-17'),
    params: webhook,
    returns: one(resources.WEBHOOK, assumed('A-70')),
    fails: ['not_found'],
  }),
  'webhooks.update': operation(
    'Change the endpoint, the events or the status of a subscription',
    'PATCH /webhooks/{webhook_id}',
    {
      basis: assumed('A-17'),
      effect: 'reversible',
      repeat: 'freely',
      params: webhook,
      body: resources.UPDATE_WEBHOOK,
      together: knownEvents,
      returns: one(resources.WEBHOOK, assumed('A-70')),
      fails: ['not_found', 'invalid_request'],
      readBack: 'webhooks.get',
    },
  ),
  'webhooks.delete': operation('Delete a subscription', 'DELETE /webhooks/{webhook_id}', {
    basis: assumed('A-17'),
    effect: 'irreversible',
    repeat: 'freely',
    params: webhook,
    returns: nothing(assumed('A-17')),
    fails: ['not_found'],
    removesFrom: { list: 'webhooks.list', id: 'webhook_id' },
  }),
} as const;
