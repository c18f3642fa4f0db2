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

type Bounds = Pick<Limit, 'min' | 'max' | 'defaults'>;

const limit = <const B extends Bounds>(about: string, unit: Limit['unit'], basis: Basis, bounds: B) => ({
  about,
  unit,
  basis,
  ...bounds,
});

export const LIMITS = {
  fundingAmount: limit('Card funding amount: create card, fund card', 'cents', stated('8'), { min: 100, max: 500_000 }),
  withdrawAmount: limit('Amount removed from a card, up to its balance', 'cents', assumed('A-09'), { min: 1 }),
  idLength: limit('An id in a request; a longer word is no id and is not sent', 'characters', assumed('A-130'), {
    max: 128,
  }),
  labelLength: limit('Card label, in code points', 'characters', stated('8', 'A-166'), { max: 64 }),
  metadataKeys: limit('Card metadata', 'keys', stated('8'), { max: 20 }),
  metadataKeyLength: limit('A metadata key', 'characters', assumed('A-166'), { max: 40 }),
  metadataValueLength: limit('A metadata value', 'characters', assumed('A-166'), { max: 500 }),
  pageSize: limit('Rows of a page: list cards', 'rows', stated('8'), { min: 1, max: 100, defaults: 25 }),
  transactionsPageSize: limit('Rows of a page: list transactions', 'rows', assumed('A-25'), { defaults: 25 }),
  page: limit('Page number', 'page', stated('8'), { min: 1, defaults: 1 }),
  detailsRate: limit('Get card details, sliding over 60 seconds', 'requests per minute', stated('8', 'A-120'), {
    max: 30,
  }),
  generalRate: limit('All other operations together', 'requests per minute', assumed('A-121'), { max: 600 }),
  monthlySpending: limit(
    "Monthly spending limit: above 0, at most the BIN's max_monthly",
    'cents',
    stated('8', 'A-162'),
    { min: 1, defaults: "the BIN's max_monthly" },
  ),
  singleTransaction: limit("A single transaction: at most the BIN's max_transaction", 'cents', stated('8'), {}),
  autoFreezeAt: limit('Auto-freeze threshold', 'cents', stated('4.1', 'A-164'), { min: 0 }),
  idempotencyKey: limit('Idempotency key, printable ASCII', 'characters', stated('5', 'A-98'), { min: 1, max: 255 }),
  webhookSecret: limit(
    'Webhook signing secret, printable text; zero bytes at the end of a key change no signature',
    'characters',
    stated('4.5', 'A-72'),
    { min: 16 },
  ),
  requestBody: limit('Request body', 'bytes', assumed('A-112'), { max: 65_536 }),
} as const satisfies Record<string, Limit>;

/** What a field takes of its limit. */
export function within({ about: _about, unit: _unit, basis: _basis, ...bounds }: Limit) {
  return bounds;
}
