/**
 * The inspector in a browser: how it is opened, what it may ask, and what it asks for all the time
 * (docs/design/inspector.md, sections 4 and 5).
 */
import { CARD_ID } from '../card.ts';
import { must } from '../field.ts';
import { choice, flag, integer, number, sealed, text, time } from '../own-field.ts';
import { CLOCK_MODES } from './basis.ts';
import { change, look, one, reading } from './row.ts';

/** Below it stand the page, its files, and the control surface. */
export const PAGE_PATH = '/_sandbox/';

/** What a session of the page may do: everything a page can, or nothing but look. */
const PAGE_ACCESS = ['full', 'look'] as const;
export type PageAccess = (typeof PAGE_ACCESS)[number];

/** A ticket is good for so long, ms, and for so many wrong tries. */
export const TICKET_LIFE = 60_000;
export const WRONG_TICKETS = 10;
/** How many sessions there may be at once, and how long one is good, ms. */
export const MOST_SESSIONS = 8;
export const SESSION_LIFE = 12 * 3_600_000;

const access = choice(PAGE_ACCESS, 'Everything a page can do, or looking alone.', { defaults: 'full' });

const REVEALED = {
  number: must(sealed('Full card number.')),
  cvv: must(sealed('Security code.')),
  exp_month: must(integer('Month of expiry, 1 to 12.')),
  exp_year: must(integer('Year of expiry, four digits.')),
} as const;

export const PAGE_OPERATIONS = {
  'page.tickets': look('Make a ticket that opens the inspector in a browser, once', 'POST /page/tickets', {
    body: { access },
    returns: one({
      url: must(text('Address that opens it; it holds the ticket.', { secret: true })),
      expires_at: must(time('Until when, real time.')),
    }),
  }),
  'page.show': look('Tell how many sessions of the inspector there are, and whether a ticket waits', 'GET /page', {
    returns: one({
      sessions: must(integer('Sessions that are good now.')),
      opened: must(integer('Sessions that were ever made by this server.')),
      ticket_waits: must(flag('A ticket was made that nobody has used yet.')),
    }),
  }),
  'page.session': reading('Exchange a ticket for a session; for the page alone', 'POST /page/session', {
    repeat: 'never',
    credential: 'none',
    body: { ticket: must(text('The ticket.', { maxLength: 64, secret: true })) },
    returns: one({
      half: must(text('Half of the session; the other half is the cookie.', { secret: true })),
      access: must(choice(PAGE_ACCESS, 'What it may do.')),
    }),
  }),
  'page.end': look('End all sessions of the inspector, and the ticket that waits', 'DELETE /page/sessions', {
    returns: one({ ended: must(integer('Sessions that were ended.')) }),
  }),
  'cards.reveal': change(
    'Show number and security code of a card in the page; the last four digits are the confirmation',
    'POST /cards/{card_id}/reveal',
    {
      effect: 'reveals-secret',
      params: { card_id: CARD_ID },
      body: { last4: must(text('Last four digits of the card.', { maxLength: 4 })) },
      returns: one(REVEALED),
    },
  ),
  'challenges.reveal': change(
    'Show the one-time code of a 3DS challenge in the page',
    'POST /challenges/{challenge_id}/reveal',
    {
      effect: 'reveals-secret',
      params: { challenge_id: must(text('The challenge.', { maxLength: 128 })) },
      returns: one({ otp: must(sealed('The code.')) }),
    },
  ),
  marks: look('Tell what changes whenever anything of the sandbox does, and what its clock shows', 'GET /marks', {
    returns: one({
      version: must(text('Version of cardwright that serves it.')),
      changes: must(text('Another text after every change; it has no other meaning.')),
      replaced: must(
        integer('How often a reset, a restore or an import has replaced everything that the store holds.'),
      ),
      now: must(time('Clock of the sandbox.')),
      mode: must(choice(CLOCK_MODES, 'How the clock goes.')),
      rate: must(number('Its seconds in one real second; 0 when it stands.')),
      faults: must(integer('Fault rules that can still happen.')),
    }),
  }),
} as const;

/** What a page may change besides looking: the world outside, time and faults; never what a client does. */
const PAGE_CHANGES =
  /^(?:simulate\..+|clock\.(?:set|advance)|faults\.(?:add|remove|clear)|deliveries\.(?:redeliver|recover|send)|snapshots\.(?:save|restore)|scenarios\.play|(?:cards|challenges)\.reveal|reset|ledger\.check|page\.end)$/;

/** Whether a session may ask for this; looking never needs more. */
export function pageMay(name: string, leavesNoTrace: boolean, access: PageAccess): boolean {
  if (name === 'page.tickets') return false;
  if (leavesNoTrace && name !== 'page.end') return true;
  return access === 'full' && PAGE_CHANGES.test(name);
}
