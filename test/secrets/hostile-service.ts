/** A service that answers with text made to steer a terminal, in every string it may send. */
import fc from 'fast-check';
import { json, type Seen } from '../client/served.ts';
import { codePoint } from '../support/code-point.ts';

export const ROWS = 25;

/** What acts: cursor moves, titles, clipboards, bidi, zero-width, tags, forged rows. */
const ACTING = [
  '\x1b[2J',
  '\x1b]0;title\x07',
  '\x1b]52;c;Q0FOQVJZ\x07',
  '\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\',
  '\x1bP+q544e\x1b\\',
  '\x9b31m',
  '\x9d0;x\x9c',
  '\x7f\x08\x08',
  '\r\nFORGED\tactive\t1.00',
  '\u2028FORGED',
  '\u2029',
  '\u202eFORGED\u202c',
  '\u2066a\u2069',
  '\u200b\u200c\u200d\u2060\ufeff',
  '\u00ad',
  '\u{e0041}\u{e007f}',
  '\u0000\u0001\u0002',
  '\x1b',
  '\ud800',
  '::add-mask::FORGED',
  '##[command]FORGED',
  '=HYPERLINK("http://evil.example")',
  '$(touch hacked)`touch hacked`',
  '__proto__',
  '%s%n%x',
];
const foreign = fc
  .array(fc.oneof(fc.constantFrom(...ACTING), fc.string({ unit: codePoint, maxLength: 6 })), {
    minLength: 1,
    maxLength: 4,
  })
  .map(parts => parts.join('').toWellFormed() || 'x');

/** One generator for all, so that a failing run can be had again by its seed. */
export const SEED = 20_261_120;
const POOL: readonly string[] = fc.sample(foreign, { numRuns: 3000, seed: SEED });

/** What a spreadsheet would run, or pass over blanks and quotes to run. */
const FORMULAS = ['=1+1', '+1', '-1+2', '@SUM(A1)', '\t=1', '\r=1', "'=1", '\uff1d1', ' =1'];
/** Every so many strings is one of them, and no row has so many. */
const FORMULA_EVERY = 13;

export interface HostileService {
  readonly answer: (seen: Seen, response: Parameters<typeof json>[0]) => void;
  /** How many strings it handed out. */
  readonly handedOut: () => number;
}

/** Hands out the strings of the seed from the first on: what a test sees hangs on its own requests alone. */
export function hostileService(): HostileService {
  let drawn = 0;
  const next = () => {
    drawn += 1;
    const isFormula = drawn % FORMULA_EVERY === 0;
    const text = isFormula ? FORMULAS[(drawn / FORMULA_EVERY) % FORMULAS.length] : POOL[drawn % POOL.length];
    return text ?? '';
  };
  const bodies = bodiesOf(next);
  return {
    answer({ url }, response) {
      const path = url.replace(/^\/v1/, '').replace(/\?.*/, '');
      if (path.startsWith('/refused') || path.startsWith('/cards/card_refused')) {
        const refusal = { error: next(), message: next(), request_id: next(), code: 400 };
        json(response, 400, refusal, { 'x-request-id': 'req_1' });
      } else json(response, 200, bodies[path]?.() ?? aboutCard(path, next));
    },
    handedOut: () => drawn,
  };
}

type Next = () => string;

const many = <T>(make: (index: number) => T) => Array.from({ length: ROWS }, (_, index) => make(index));
const at = '2026-11-20T14:03:11Z';
const card = (index: number, next: Next) => ({
  id: `card_${index}`,
  bin_id: next(),
  network: next(),
  last4: '4242',
  status: next(),
  balance: 5,
  spending_limit: 10,
  label: next(),
  allowed_categories: [next()],
  auto_freeze_at: null,
  metadata: { [next()]: next() },
  created_at: at,
  expires_at: at,
  [next()]: next(),
});
const bodiesOf = (next: Next): Readonly<Record<string, () => object>> => ({
  '/cards': () => ({ data: many(index => card(index, next)), page: 1, total: ROWS }),
  '/bins': () => ({
    data: many(index => ({
      id: `bin_${index}`,
      network: next(),
      type: next(),
      '3ds': true,
      apple_pay: true,
      google_pay: false,
      max_transaction: 5000,
      max_monthly: 10000,
      acceptance_rate: 97.5,
      best_for: ['ads', next()],
      note: next(),
    })),
  }),
  '/transactions': () => ({
    data: many(index => ({
      id: `txn_${index}`,
      card_id: 'card_1',
      type: next(),
      amount: 5,
      currency: 'USD',
      merchant: next(),
      merchant_category: next(),
      decline_reason: next(),
      created_at: at,
    })),
  }),
  '/wallet': () => ({ balance: 5, currency: 'USD', note: next() }),
  '/wallet/deposit-addresses': () => ({ data: many(() => ({ currency: next(), address: next(), network: next() })) }),
  '/3ds/challenges': () => ({
    data: many(index => ({
      id: `tds_${index}`,
      card_id: 'card_1',
      merchant: next(),
      amount: 5,
      otp: '123456',
      status: next(),
      expires_at: at,
    })),
  }),
  '/webhooks/wh_1': () => ({ id: 'wh_1', url: `https://example.com/${next()}`, events: [next()], note: next() }),
  '/webhooks': () => ({
    data: many(index => ({
      id: `wh_${index}`,
      url: `https://example.com/${index}`,
      events: [next()],
      note: next(),
      created_at: at,
    })),
  }),
});

/** One card, the one that was asked for. */
function aboutCard(path: string, next: Next): object {
  const id = /card_\d+/.exec(path)?.[0] ?? 'card_1';
  return { ...card(1, next), id };
}

/** Everything that acts on a terminal or hides, but newline. */
export const ACTS =
  /[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{Cs}/u;
