/** Looks behind the service: its books, its events, its deposits. Nothing of it is part of the interface. */
import { choice, flag, integer, list, money, must, object, text, time } from '../field.ts';
import { one, operation, pageOf } from '../operation.ts';
import { CURRENCIES, DEPOSIT } from '../resources.ts';
import { look, ours, said, THOROUGH } from './basis.ts';

const page = integer({ ...said('Page, from 1.'), min: 1, defaults: 1 });
const per_page = integer({ ...said('Rows a page.'), min: 1, max: 1000, defaults: 100 });

const ENTRY = {
  id: must(integer(said('Number of the entry; entries are never changed.'))),
  kind: must(text(said('What it was.'))),
  ref: must(text(said('What it is about.'))),
  created_at: must(time(said('When, on the clock of the sandbox.'))),
  postings: must(
    list(
      object(
        {
          account: must(text(said('Account of the ledger.'))),
          amount: must(money(said('USD; what comes in is positive.'))),
        },
        said('One side of it.'),
      ),
      said('They sum to 0.'),
    ),
  ),
} as const;

const EVENT = {
  seq: must(integer(said('Number in the account, without gaps.'))),
  id: must(text(said('Identifier of the event.'))),
  type: must(text(said('Event name.'))),
  created_at: must(time(said('When, on the clock of the sandbox.'))),
  body: must(text(said('Exact text that is delivered.'))),
} as const;

export const LEDGER_OPERATIONS = {
  deposits: operation({
    ...look,
    summary: 'List deposits, newest first',
    path: '/deposits',
    query: {
      status: choice(['pending', 'confirmed', 'failed'], said('Only those.')),
      currency: choice(CURRENCIES, said('Only those.')),
      page,
      per_page,
    },
    returns: pageOf(DEPOSIT, ours),
  }),
  events: operation({
    ...look,
    summary: 'List events in their order',
    path: '/events',
    query: { type: text(said('Only those of this name.')), page, per_page },
    returns: pageOf(EVENT, ours),
  }),
  'ledger.accounts': operation({
    ...look,
    summary: 'List the accounts of the ledger with what is in them',
    path: '/ledger/accounts',
    query: { page, per_page },
    returns: pageOf(
      {
        account: must(text(said('Account of the ledger.'))),
        balance: must(money(said('Sum of its postings, USD.'))),
        postings: must(integer(said('How many there are.'))),
      },
      ours,
    ),
  }),
  'ledger.entries': operation({
    ...look,
    summary: 'List entries of the ledger in their order',
    path: '/ledger/entries',
    query: {
      account: text(said('Only those that touch this account.')),
      ref: text(said('Only those about it.')),
      page,
      per_page,
    },
    returns: pageOf(ENTRY, ours),
  }),
  'ledger.check': operation({
    ...look,
    ...THOROUGH,
    summary: 'Check every invariant that stored data can show',
    method: 'POST',
    path: '/ledger/check',
    returns: one(
      {
        ok: must(flag(said('All of them hold.'))),
        faults: must(list(text(said('What does not hold.')), said('One line for each broken invariant.'))),
      },
      ours,
    ),
  }),
} as const;
