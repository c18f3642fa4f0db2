/**
 * Conditions a person types about a record: `status=active`, `balance<20`, `created_at<30d`, for filters and waits.
 * Several, each in a flag of its own, must all hold.
 */
import type { AnyField, Shape } from '../contract/field.ts';
import { usage } from '../core/errors.ts';
import { amountBehindNoise, centsOf, parseAmount, plainAmount } from '../core/money.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Copy } from '../mirror/mirror.ts';
import type { Found } from '../mirror/search.ts';
import type { Listing, Row } from '../terminal/view.ts';
import { PAGING_FLAGS } from './listing.ts';
import { eachTime, needs, type OwnFlag, option, takes } from './parsing/flag.ts';
import { parseTimeWord, quote } from './parsing/values.ts';

export type Test = (row: Readonly<Record<string, unknown>>) => boolean;

/** What conditions are read against. */
interface ConditionSettings {
  /** Fields of the record. */
  readonly shape: Shape;
  /** `--where`, for messages. */
  readonly flag: string;
  /** The clock of the service, ms UTC: `30d` is that long before it. Asked whenever a record is tested. */
  readonly now: () => number;
}

const OPERATORS = ['!=', '<=', '>=', '=', '<', '>', '~'] as const;
type Operator = (typeof OPERATORS)[number];
const FORM = /^([A-Za-z0-9_]+(?:\.[^\s=!<>~]+)?)(!=|<=|>=|=|<|>|~)(.*)$/su;

const FORM_TEXT = '<field><op><value>';
const DOC = 'Field, operator (= != < <= > >= ~) and value; several must all hold.';

/** `--where` or `--until` that may be given several times; its value is the texts as typed. */
export const CONDITIONS: OwnFlag<readonly string[], false> = eachTime(option(takes.text(DOC), FORM_TEXT));
/** Conditions of which at least one is needed. */
export const NEEDED_CONDITIONS: OwnFlag<readonly string[], true> = eachTime(needs(takes.text(DOC), FORM_TEXT));

/** Explains what the values of conditions may be, for the help of a command that takes them. */
export const CONDITION_VALUES =
  'A condition is <field><op><value> with = != < <= > >= and ~ (contains), such as balance<20 or metadata.team=ads. Several conditions, each in a flag of its own, must all hold. A date means the whole day. 30d means thirty days ago: created_at<30d is older than that, and expires_at<+30d expires within thirty days.';

/** One test that holds when every condition does; no condition always holds. Throws `usage`. */
export function allOf(texts: readonly string[], settings: ConditionSettings): Test {
  const tests = texts.map(text => parseCondition(text, settings));
  return row => tests.every(test => test(row));
}

/** Paths that conditions speak of, each once: `balance`, `metadata.team`. */
export function fieldsIn(texts: readonly string[]): readonly string[] {
  const paths = texts.map(text => FORM.exec(text)?.[1] ?? '');
  return [...new Set(paths)].filter(path => path !== '');
}

/**
 * A test for `<field><op><value>`; operators `= != < <= > >= ~` (contains). Money is compared in cents, times as
 * instants and a date as its whole day, the rest as text. `metadata.key` reaches into maps. An absent value passes no
 * test but `!=`, an unfit one none at all. Throws `usage` naming the fields, the choices or the form of the value.
 */
export function parseCondition(text: string, settings: ConditionSettings): Test {
  const { shape, flag } = settings;
  const where = `${flag} ${quote(text)}`;
  const [, path = '', operator = '', wanted = ''] = FORM.exec(text) ?? [];
  const [name = '', ...rest] = path.split('.');
  const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
  if (field === undefined) {
    const meant = didYouMean(name, Object.keys(shape));
    throw usage(
      `${where} is not ${FORM_TEXT}; fields: ${Object.keys(shape).join(', ')}; operators: = != < <= > >= ~${meant && `.${meant}`}`,
    );
  }
  const key = rest.join('.');
  if ((field.kind === 'map') !== (key !== '')) {
    throw usage(`${where}: write ${field.kind === 'map' ? `${name}.<key>` : name}`);
  }
  // What is written as in a program would be text that no record has, and != would choose every record.
  if (/^=|&&|^".*"$/s.test(wanted))
    throw usage(`${where}: one = compares, a value has no quotes of its own, and each condition has its own ${flag}`);
  const valueIn: ValueIn = row => (key === '' ? row[name] : (row[name] as Record<string, unknown> | undefined)?.[key]);
  if (operator === '~') return contains(valueIn, wanted, where);
  const compare = comparison(field, { wanted, operator: operator as Operator, where, now: settings.now });
  return row => {
    const value = valueIn(row);
    if (value === undefined || value === null) return operator === '!=';
    const order = compare(value);
    return order !== undefined && holds(operator as Operator, order);
  };
}

type ValueIn = (row: Readonly<Record<string, unknown>>) => unknown;

function contains(valueIn: ValueIn, wanted: string, where: string): Test {
  if (wanted === '') throw usage(`${where}: write a text after ~`);
  return row => {
    const value = valueIn(row);
    return value !== undefined && value !== null && asText(value).toLowerCase().includes(wanted.toLowerCase());
  };
}

function holds(operator: Operator, order: number): boolean {
  if (operator === '=') return order === 0;
  if (operator === '!=') return order !== 0;
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  if (operator === '>') return order > 0;
  return operator === '>=' && order >= 0;
}

interface Wanted {
  readonly wanted: string;
  readonly operator: Operator;
  /** Flag and condition, for messages. */
  readonly where: string;
  readonly now: () => number;
}

/** Order of a record's value against the wanted one: below, equal or above 0; undefined when it is unfit. */
type Comparison = (value: unknown) => number | undefined;

function comparison(field: AnyField, asked: Wanted): Comparison {
  switch (field.kind) {
    case 'money':
      return moneyOrder(asked);
    case 'integer':
    case 'number':
      return numberOrder(field, asked);
    case 'time':
      return timeOrder(asked);
    case 'choice':
      return wordOrder(field.choices ?? [], asked);
    case 'flag':
      return wordOrder(['true', 'false'], asked);
    default:
      return textOrder(asked.wanted);
  }
}

function moneyOrder({ wanted, where }: Wanted): Comparison {
  const amount = parseAmount(wanted.replace(/^-/, ''));
  if (amount === undefined) {
    const meant = amountBehindNoise(wanted);
    const write =
      meant === undefined ? 'such as 25 or 1250.00' : `with at most two decimals: write ${plainAmount(meant)}`;
    throw usage(`${where}: ${quote(wanted)} is not an amount ${write}`);
  }
  const signed = wanted.startsWith('-') ? -amount : amount;
  return value => {
    const there = typeof value === 'number' ? centsOf(value) : undefined;
    return there === undefined ? undefined : there - signed;
  };
}

function numberOrder({ kind }: AnyField, { wanted, where }: Wanted): Comparison {
  const isWhole = kind === 'integer';
  if (!(isWhole ? /^-?\d{1,15}$/ : /^-?\d{1,15}(\.\d{1,6})?$/).test(wanted)) {
    throw usage(`${where}: ${quote(wanted)} is not a ${isWhole ? 'whole number' : 'number'}`);
  }
  const number = Number(wanted);
  return value => (typeof value === 'number' ? value - number : undefined);
}

/** A date is its whole day: `=` within it, `<` before it, `>` after it. */
function timeOrder({ wanted, where, now }: Wanted): Comparison {
  const bounds = () => {
    const [from, to] = [parseTimeWord(wanted, now()), parseTimeWord(wanted, now(), true)];
    if (from === undefined || to === undefined) {
      throw usage(
        `${where}: ${quote(wanted)} is not a time such as 2026-11-01, 2026-11-01T14:00:00Z, yesterday, 30d (thirty days ago) or +30d`,
      );
    }
    return [Date.parse(from), Date.parse(to)] as const;
  };
  bounds();
  return value => {
    const there = Date.parse(asText(value));
    if (Number.isNaN(there)) return undefined;
    const [from, to] = bounds();
    return there < from ? -1 : there > to ? 1 : 0;
  };
}

/** Known words have no order; a word that is none of them would never hold, or always. */
function wordOrder(choices: readonly string[], { wanted, operator, where }: Wanted): Comparison {
  if (operator !== '=' && operator !== '!=') {
    throw usage(`${where}: ${choices.join(', ')} have no order; write = or !=`);
  }
  if (!choices.includes(wanted)) {
    const meant = didYouMean(wanted, choices);
    throw usage(`${where}: ${quote(wanted)} is not one of ${choices.join(', ')}.${meant}`);
  }
  return textOrder(wanted);
}

function textOrder(wanted: string): Comparison {
  return value => {
    const there = asText(value);
    return there === wanted ? 0 : there < wanted ? -1 : 1;
  };
}

function asText(value: unknown): string {
  return Array.isArray(value) ? value.join(';') : String(value);
}

export const SEARCH_FLAGS = {
  min: option(takes.money('At least this amount, USD.', { min: 0 })),
  max: option(takes.money('At most this amount, USD.', { min: 0 })),
  label: option(takes.text('Only of cards whose label contains this.')),
  like: option(takes.flag('Words may stand inside of other words.')),
  ...PAGING_FLAGS,
} as const;

/** Rows where nothing else was asked for. */
const DEFAULT_LIMIT = 25;

interface SearchWish {
  readonly noun: string;
  readonly all?: boolean | undefined;
  readonly limit?: number | undefined;
}

/** What a search found, newest first. The copy is closed when the last row was read, or when the search fails. */
export function searched(copy: Copy, search: (copy: Copy) => Found<object>, { noun, all, limit }: SearchWish): Listing {
  let found: Found<object>;
  try {
    found = search(copy);
  } catch (error) {
    copy[Symbol.dispose]();
    throw error;
  }
  const { total, pages } = found;
  const most = limit ?? (all ? Number.POSITIVE_INFINITY : DEFAULT_LIMIT);
  const kept = Math.min(total, most);
  async function* batches(): AsyncGenerator<readonly Row[]> {
    try {
      let left = most;
      for await (const { data } of pages) {
        yield (data as readonly Row[]).slice(0, left);
        left -= data.length;
        if (left <= 0) return;
      }
    } finally {
      copy[Symbol.dispose]();
    }
  }
  const things = (count: number) => `${count} ${noun}${count === 1 ? '' : 's'}`;
  const cut = kept < total ? `${things(kept)} of ${total}; --all gives all of them` : undefined;
  return {
    batches: batches(),
    page: () => ({ total, as_of: copy.as_of, ...(kept < total && { limit: most }) }),
    footer: () =>
      cut === undefined ? `${total === 0 ? `No ${noun}s` : things(total)}, as of ${copy.as_of}.` : `${cut}.`,
    cutShort: () => (limit === undefined ? cut : undefined),
  };
}
