/** What a rule of a policy may ask of a card: facts, each once, and the tests they are held against. */

import { DAY } from '../core/durations.ts';
import { parseAmount } from '../core/money.ts';
import { glob } from '../core/text.ts';
import type { Activities } from './activity.ts';
import { type CardRow, metadataValue } from './rows.ts';

/** From the worst to the mildest. */
export const SEVERITIES = ['error', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** `days`, `count`: whole numbers. `money`: cents. `percent`: hundredths of a percent. `text`: none, one or several. */
export type FactKind = 'days' | 'count' | 'money' | 'percent' | 'text' | 'flag';

/** A number, undefined while it is not known; texts, none for what is empty. */
export type FactValue = number | undefined | readonly string[];

interface FactRow {
  readonly kind: FactKind;
  readonly says: string;
  readonly of: (card: CardRow, known: Activities) => FactValue;
}

/** Facts of a span are known when all of it was read. */
const within =
  (days: number, count: (card: CardRow, known: Activities) => number) =>
  (card: CardRow, known: Activities): number | undefined =>
    known.wholeSince <= known.now - days * DAY ? count(card, known) : undefined;

const spent = (days: 1 | 7 | 30): FactRow => ({
  kind: 'money',
  says: `Settled less refunded in the last ${days === 1 ? '24 hours' : `${days} days`}, USD.`,
  of: within(days, ({ card_id }, known) => known.of(card_id).spent[days]),
});

/** Every fact but `metadata.<key>`. */
const FACTS = {
  unused_days: {
    kind: 'days',
    says: 'Whole days since the last authorization or settlement; of a card never used, since it was made.',
    // An open window may hide a later use, but none that is newer than the one that is known.
    of: ({ card_id, created_ms }, known) => {
      const since = known.of(card_id).lastUse ?? created_ms;
      return since === null || since < known.wholeSince ? undefined : wholeDays(known.now - since);
    },
  },
  age_days: {
    kind: 'days',
    says: 'Whole days since it was made.',
    of: ({ created_ms }, { now }) => (created_ms === null ? undefined : wholeDays(now - created_ms)),
  },
  expires_days: {
    kind: 'days',
    says: 'Whole days until it expires, below 0 afterwards.',
    of: ({ expires_ms }, { now }) => (expires_ms === null ? undefined : wholeDays(expires_ms - now)),
  },
  balance: { kind: 'money', says: 'Balance, USD.', of: ({ balance_cents }) => balance_cents ?? undefined },
  spent_1d: spent(1),
  spent_7d: spent(7),
  spent_30d: spent(30),
  limit: {
    kind: 'money',
    says: 'Monthly limit, USD.',
    of: ({ spending_limit_cents }) => spending_limit_cents ?? undefined,
  },
  limit_use: {
    kind: 'percent',
    says: 'Share of the monthly limit that this UTC month used, about: partial reversals leave no record (A-161).',
    of: ({ card_id, spending_limit_cents: limit }, known) =>
      limit === null || limit <= 0 || known.wholeSince > known.monthStart
        ? undefined
        : (known.limitUsed(card_id) * 10_000) / limit,
  },
  declines_1d: {
    kind: 'count',
    says: 'Declines in the last 24 hours.',
    of: within(1, ({ card_id }, known) => known.of(card_id).declined1),
  },
  refunds_30d: {
    kind: 'count',
    says: 'Refunds in the last 30 days.',
    of: within(30, ({ card_id }, known) => known.of(card_id).refunded30),
  },
  label: { kind: 'text', says: 'Label.', of: ({ label }) => texts([label]) },
  categories: {
    kind: 'text',
    says: 'Allowed categories; empty means no restriction.',
    of: ({ allowed_categories }) => texts(JSON.parse(allowed_categories) as readonly unknown[]),
  },
  own: {
    kind: 'flag',
    says: 'true for a card that cardwright made: its metadata carries our marker.',
    of: card => metadataOf(card, 'cardwright'),
  },
} as const satisfies Readonly<Record<string, FactRow>>;

const METADATA = 'metadata.';
export const FACT_NAMES = [...Object.keys(FACTS), 'metadata.<key>'];

/** The fact of that name; undefined when there is none. */
export function factNamed(name: string): FactRow | undefined {
  if (Object.hasOwn(FACTS, name)) return FACTS[name as keyof typeof FACTS];
  if (!name.startsWith(METADATA) || name.length === METADATA.length) return undefined;
  const key = name.slice(METADATA.length);
  return { kind: 'text', says: 'A value of its metadata.', of: card => metadataOf(card, key) };
}

/** A value of the metadata; none for a key that is not there. */
const metadataOf = (card: CardRow, key: string) => texts([metadataValue(card.metadata, key)]);

function wholeDays(ms: number): number {
  return Math.floor(ms / DAY);
}

function texts(values: readonly unknown[]): readonly string[] {
  return values.filter(value => value !== null && value !== undefined && value !== '').map(String);
}

// Tests as a policy file writes them

/** Undefined while the fact is not known. */
type Holds = (value: FactValue) => boolean | undefined;

const FORMS: Readonly<Record<FactKind, string>> = {
  days: '"< <= = >= > or !=, then whole days", such as ">= 30"',
  count: '"< <= = >= > or !=, then a whole number", such as ">= 5"',
  money: '"< <= = >= > or !=, then USD", such as "> 200.00"',
  percent: '"< <= = >= > or !=, then percent", such as "< 10%"',
  text: 'empty, set, a pattern such as "saas*", or a list of patterns',
  flag: 'true or false',
};

const COMPARISON = /^(<=|>=|!=|=|<|>)\s*(\S+)$/;

/** The test that was written, scalars as text; undefined where it is none, and `formOf` says what it could be. */
export function testOf(kind: FactKind, written: unknown): Holds | undefined {
  if (kind === 'text') return textTest(written);
  if (typeof written !== 'string') return undefined;
  if (kind === 'flag')
    return { true: isThere(true), set: isThere(true), false: isThere(false), empty: isThere(false) }[written];
  const [, operator = '', wanted = ''] = COMPARISON.exec(written) ?? [];
  const number = numberOf(kind, wanted);
  if (number === undefined) return undefined;
  const compare = OPERATORS[operator as keyof typeof OPERATORS];
  return value => (typeof value === 'number' ? compare(value, number) : undefined);
}

export function formOf(kind: FactKind, written: unknown): string {
  return `a test of it is ${FORMS[kind]}, not ${JSON.stringify(written)}`;
}

const OPERATORS = {
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
  '=': (a: number, b: number) => a === b,
  '>=': (a: number, b: number) => a >= b,
  '>': (a: number, b: number) => a > b,
  '!=': (a: number, b: number) => a !== b,
} as const;

function numberOf(kind: FactKind, text: string): number | undefined {
  const unsigned = text.replace(/^-/, '');
  const size = sizeOf(kind, unsigned);
  return size === undefined || unsigned === text ? size : -size;
}

function sizeOf(kind: FactKind, text: string): number | undefined {
  if (kind === 'money') return parseAmount(text, { grouped: true });
  if (kind !== 'percent') return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  return text.endsWith('%') ? parseAmount(text.slice(0, -1)) : undefined;
}

function isThere(wanted: boolean): Holds {
  return value => Array.isArray(value) && value.length > 0 === wanted;
}

/** One pattern or a list of them; an empty one would never hold. */
function textTest(written: unknown): Holds | undefined {
  if (written === 'empty' || written === 'set') return isThere(written === 'set');
  const patterns = Array.isArray(written) ? written : [written];
  if (patterns.length === 0 || !patterns.every(each => typeof each === 'string' && each !== '')) return undefined;
  const tests = patterns.map(glob);
  return value => Array.isArray(value) && value.some(text => tests.some(test => test(text)));
}

// Which cards a rule speaks of

export const FILTER_NAMES = ['status', 'bin', 'label', 'metadata.<key>'];

/** What of a card is held against a pattern. */
export function choiceNamed(name: string): ((card: CardRow) => readonly string[]) | undefined {
  if (name === 'status') return ({ status }) => [status];
  if (name === 'bin') return ({ bin_id }) => texts([bin_id]);
  if (name === 'label') return ({ label }) => texts([label]);
  if (!name.startsWith(METADATA) || name.length === METADATA.length) return undefined;
  return card => metadataOf(card, name.slice(METADATA.length));
}
