/** Looks behind the service: its books, its events, its deposits. Nothing of it is part of the interface. */
import { choice, flag, integer, list, money, must, nullable, object, text, time } from '../field.ts';
import { one, operation, pageOf } from '../operation.ts';
import { CURRENCIES, DEPOSIT } from '../resources.ts';
import { described, ours, reading, THOROUGH, traceless } from './basis.ts';

const page = integer({ ...described('Page, from 1.'), min: 1, defaults: 1 });
const per_page = integer({ ...described('Rows a page.'), min: 1, max: 1000, defaults: 100 });

const ENTRY = {
  id: must(integer(described('Number of the entry; entries are never changed.'))),
  kind: must(text(described('What it was.'))),
  ref: must(text(described('What it is about.'))),
  created_at: must(time(described('When, on the clock of the sandbox.'))),
  postings: must(
    list(
      object(
        {
          account: must(text(described('Account of the ledger.'))),
          amount: must(money(described('USD; what comes in is positive.'))),
        },
        described('One side of it.'),
      ),
      described('They sum to 0.'),
    ),
  ),
} as const;

export const EVENT = {
  seq: must(integer(described('Number in the account, without gaps.'))),
  id: must(text(described('Identifier of the event.'))),
  type: must(text(described('Event name.'))),
  created_at: must(time(described('When, on the clock of the sandbox.'))),
  body: must(text(described('Exact text that is delivered.'))),
} as const;

export const INVARIANT = {
  id: must(text(described('Its code, such as I4.'))),
  holds: nullable(flag(described('Whether it holds; null where the file is damaged and nobody asked.'))),
  says: must(text(described('What must hold; of a broken one also what breaks it.'))),
} as const;

export const LEDGER_OPERATIONS = {
  deposits: operation({
    ...reading,
    summary: 'List deposits, newest first',
    path: '/deposits',
    query: {
      status: choice(['pending', 'confirmed', 'failed'], described('Only those.')),
      currency: choice(CURRENCIES, described('Only those.')),
      page,
      per_page,
    },
    returns: pageOf(DEPOSIT, ours),
  }),
  events: operation({
    ...traceless,
    summary: 'List events in their order',
    path: '/events',
    query: {
      type: text({ ...described('Only those of this name.'), names: 'event' }),
      card_id: text({ ...described('Only those about this card.'), names: 'card', maxLength: 64 }),
      after: integer({ ...described('Only those behind the event of this number.'), min: 0 }),
      order: choice(['asc', 'desc'], { ...described('From the first one, or from the newest.'), defaults: 'asc' }),
      page,
      per_page,
    },
    returns: pageOf(EVENT, ours),
  }),
  'ledger.accounts': operation({
    ...reading,
    summary: 'List the accounts of the ledger with what is in them',
    path: '/ledger/accounts',
    query: { page, per_page },
    returns: pageOf(
      {
        account: must(text(described('Account of the ledger.'))),
        balance: must(money(described('Sum of its postings, USD.'))),
        postings: must(integer(described('How many there are.'))),
      },
      ours,
    ),
  }),
  'ledger.entries': operation({
    ...reading,
    summary: 'List entries of the ledger in their order',
    path: '/ledger/entries',
    query: {
      account: text(described('Only those that touch this account.')),
      ref: text(described('Only those about it.')),
      page,
      per_page,
    },
    returns: pageOf(ENTRY, ours),
  }),
  'ledger.check': operation({
    ...reading,
    ...THOROUGH,
    summary: 'Check every invariant that stored data can show',
    method: 'POST',
    path: '/ledger/check',
    returns: one(
      {
        ok: must(flag(described('All of them hold.'))),
        faults: must(list(text(described('What does not hold.')), described('One line for each broken invariant.'))),
        invariants: must(list(object(INVARIANT, described('One of them.')), described('I1 to I16, in their order.'))),
      },
      ours,
    ),
  }),
} as const;
