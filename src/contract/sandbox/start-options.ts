/** Options of `startSandbox()`, the sandbox for test suites and other programs: their types and their check are made from these. */
import { must } from '../field.ts';
import { LIMITS } from '../limits.ts';
import { choice, flag, integer, money, object, text, time } from '../own-field.ts';
import { DIALECT_NAMES } from './faults.ts';

const CLOCK = { mode: must(choice(['real', 'frozen'], 'How it goes.')), at: time('Where it stands.') } as const;

export const START_OPTIONS = {
  store: text('`memory`, or the path of a file that is kept, made with mode 0600.', { defaults: 'memory' }),
  listen: choice(['tcp', 'socket'], 'A port of 127.0.0.1, or a private socket, for clients that can be given one.', {
    defaults: 'tcp',
  }),
  port: integer('For `tcp`; any free one when left out or 0.', { min: 0, max: 65_535 }),
  seed: integer('Fixes ids, card numbers and codes, so that two runs are alike.', { min: 0, defaults: 1 }),
  ids: choice(['derived', 'counted'], '`card_` and 24 characters as the service has them, or `card_1`, `req_2`.', {
    defaults: 'derived',
  }),
  data: choice(['empty', 'demo'], '`empty` has eight BINs, `demo` also cards, transactions and a webhook.', {
    defaults: 'empty',
  }),
  wallet: money('USD in the wallet of data set `empty`, and of no other.', { min: 0, defaults: 0 }),
  dialect: choice(DIALECT_NAMES, 'How the sandbox speaks.', { defaults: 'default' }),
  clock: object(CLOCK, 'Real time, or frozen at an ISO 8601 time until `advance` moves it.', { defaults: 'real' }),
  rateLimits: flag(
    `${LIMITS.detailsRate.max} reads of card details and ${LIMITS.generalRate.max} other requests a minute, as the service limits them.`,
    { defaults: 'true' },
  ),
  timers: choice(['live', 'on-request'], 'Expiries happen by themselves, or at the next request or `advance`.', {
    defaults: 'live',
  }),
  deliveries: choice(['live', 'on-deliver'], 'Webhooks are sent as they become due, or when `deliver` is called.', {
    defaults: 'live',
  }),
  allowRemoteWebhooks: flag('Webhooks may go to other machines, over https.'),
  webhookSecret: text('Signing secret of subscriptions that name none; generated when left out.', {
    secret: true,
    minLength: LIMITS.webhookSecret.min,
    printable: true,
  }),
} as const;
