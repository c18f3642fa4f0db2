/** The limits of the interface, section 8, and those we assume. Cents for money; counts and characters else. */
import { assumed, type Basis, stated } from './basis.ts';

export interface Limit {
  readonly about: string;
  readonly min?: number;
  readonly max?: number;
  readonly defaults?: number | string;
  readonly unit: 'cents' | 'characters' | 'keys' | 'rows' | 'requests per minute' | 'page' | 'bytes';
  readonly basis: Basis;
}

export const LIMITS = {
  fundingAmount: {
    about: 'Card funding amount: create card, fund card',
    min: 100,
    max: 500_000,
    unit: 'cents',
    basis: stated('8'),
  },
  withdrawAmount: {
    about: 'Amount removed from a card, up to its balance',
    min: 1,
    unit: 'cents',
    basis: assumed('A-09'),
  },
  idLength: {
    about: 'An id in a request; a longer word is no id and is not sent',
    max: 128,
    unit: 'characters',
    basis: assumed('A-130'),
  },
  labelLength: { about: 'Card label, in code points', max: 64, unit: 'characters', basis: stated('8', 'A-166') },
  metadataKeys: { about: 'Card metadata', max: 20, unit: 'keys', basis: stated('8') },
  metadataKeyLength: { about: 'A metadata key', max: 40, unit: 'characters', basis: assumed('A-166') },
  metadataValueLength: { about: 'A metadata value', max: 500, unit: 'characters', basis: assumed('A-166') },
  pageSize: { about: 'Rows of a page: list cards', min: 1, max: 100, defaults: 25, unit: 'rows', basis: stated('8') },
  transactionsPageSize: {
    about: 'Rows of a page: list transactions',
    defaults: 25,
    unit: 'rows',
    basis: assumed('A-25'),
  },
  page: { about: 'Page number', min: 1, defaults: 1, unit: 'page', basis: stated('8') },
  detailsRate: {
    about: 'Get card details, sliding over 60 seconds',
    max: 30,
    unit: 'requests per minute',
    basis: stated('8', 'A-120'),
  },
  generalRate: {
    about: 'All other operations together',
    max: 600,
    unit: 'requests per minute',
    basis: assumed('A-121'),
  },
  monthlySpending: {
    about: "Monthly spending limit: above 0, at most the BIN's max_monthly",
    min: 1,
    defaults: "the BIN's max_monthly",
    unit: 'cents',
    basis: stated('8', 'A-162'),
  },
  singleTransaction: {
    about: "A single transaction: at most the BIN's max_transaction",
    unit: 'cents',
    basis: stated('8'),
  },
  autoFreezeAt: { about: 'Auto-freeze threshold', min: 0, unit: 'cents', basis: stated('4.1', 'A-164') },
  idempotencyKey: {
    about: 'Idempotency key, printable ASCII',
    min: 1,
    max: 255,
    unit: 'characters',
    basis: stated('5', 'A-98'),
  },
  webhookSecret: {
    about: 'Webhook signing secret, printable text; zero bytes at the end of a key change no signature',
    min: 16,
    unit: 'characters',
    basis: stated('4.5', 'A-72'),
  },
  requestBody: { about: 'Request body', max: 65_536, unit: 'bytes', basis: assumed('A-112') },
} as const satisfies Record<string, Limit>;
