/** From words to values: by the field, and times such as 7d or yesterday. */
import { parseDuration } from '../../app/globals.ts';
import type { AnyField } from '../../contract/field.ts';
import {
  HOLDS_SECRET,
  inputViolation,
  isCalendarDay,
  limitText,
  TYPED_NUMBER,
  typedIdViolation,
  violation,
} from '../../contract/violation.ts';
import { DAY, HOUR, isoTime, MINUTE } from '../../core/durations.ts';
import { CliError, usage } from '../../core/errors.ts';
import { amountBehindNoise, parseAmount, plainAmount, toUsd } from '../../core/money.ts';

const RELATIVE = /^(\+?)(\d{1,5})([mhdw])$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/;
const ZONED_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY };

/**
 * ISO 8601 UTC text of a time word, or undefined when it is none. A bare day is its first moment, or with
 * `end` its last millisecond; `7d` is that long before `now` (ms UTC), `+7d` that long after it.
 */
export function parseTimeWord(text: string, now: number, end = false): string | undefined {
  const relative = RELATIVE.exec(text);
  if (relative) {
    const length = Number(relative[2]) * (UNITS[relative[3] ?? ''] ?? 0);
    return isoTime(relative[1] === '+' ? now + length : now - length);
  }
  if (text === 'now') return isoTime(now);
  if (text === 'today' || text === 'yesterday') return day(new Date(now), text === 'today' ? 0 : -1, end);
  if (DATE.test(text)) {
    const [year = 0, month = 0, date = 0] = text.split('-').map(Number);
    const start = new Date(year, month - 1, date);
    // A date such as 2026-02-31 rolls over; then it was never a date.
    if (start.getFullYear() !== year || start.getMonth() !== month - 1 || start.getDate() !== date) return undefined;
    return day(start, 0, end);
  }
  if ((!LOCAL_TIME.test(text) && !ZONED_TIME.test(text)) || !isCalendarDay(text)) return undefined;
  const value = Date.parse(text);
  return Number.isNaN(value) ? undefined : isoTime(value);
}

/** Whether the word counts from the present moment. */
export function countsFromNow(text: string): boolean {
  return RELATIVE.test(text) || ['now', 'today', 'yesterday'].includes(text);
}

function day(of: Date, offset: number, end: boolean): string {
  const start = new Date(of.getFullYear(), of.getMonth(), of.getDate() + offset);
  const next = new Date(of.getFullYear(), of.getMonth(), of.getDate() + offset + 1);
  return isoTime(end ? next.getTime() - 1 : start.getTime());
}

export interface ValueSettings {
  /** ms UTC, for `7d` and `yesterday`. */
  readonly now: number;
}

/**
 * The value of one flag or argument: cents for money, ISO text for times, ms for a length of time. `name` is `--amount` or `the card id`.
 * Throws `usage` (exit 2) naming the limit; nothing was sent.
 */
export function parseValue(name: string, field: AnyField, text: string, settings: ValueSettings): unknown {
  if (text === '-' && field.names === 'card') {
    throw usage(`${name} is "-": ids from standard input go where a command takes cards, as in cards freeze -`);
  }
  if (field.local === 'duration') return parseDuration(text, name);
  switch (field.kind) {
    case 'money':
      return moneyValue(name, field, text);
    case 'integer':
      return checked(name, field, text, /^-?\d{1,15}$/.test(text) ? Number(text) : undefined, 'a whole number');
    case 'number':
      return checked(name, field, text, /^-?\d{1,15}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined, 'a number');
    case 'flag':
      return checked(name, field, text, { true: true, false: false }[text], 'true or false');
    case 'time': {
      const iso = parseTimeWord(text, settings.now, name === '--until');
      return checked(name, field, text, iso, 'a time such as 2026-11-01, 2026-11-01T14:00:00Z, yesterday or 7d');
    }
    // GET is meant by get too.
    case 'choice':
      return checked(name, field, text, field.choices?.find(each => each === text.toUpperCase()) ?? text, 'text');
    default:
      return checked(name, field, text, text, 'text');
  }
}

/** Values of a repeated flag as a list; commas separate too. */
export function parseList(name: string, field: AnyField, texts: readonly string[], settings: ValueSettings): unknown[] {
  const { item } = field;
  if (item === undefined) throw new CliError('internal', { message: `${name} is an empty list` });
  const words = texts.flatMap(text => text.split(',')).filter(word => word !== '');
  if (words.length === 0) throw usage(`${name} needs at least one value`);
  return words.map(word => parseValue(name, item, word, settings));
}

/** `k=v` flags as an object. */
export function parseMap(name: string, field: AnyField, texts: readonly string[]): Record<string, string> {
  const pairs = texts.map(text => {
    const at = text.indexOf('=');
    if (at < 1) throw usage(`${name} ${quote(text)} is not key=value`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  const twice = pairs.find(([key], index) => pairs.findIndex(([other]) => other === key) !== index);
  if (twice) throw usage(`${name} names ${quote(twice[0])} twice`);
  // fromEntries defines own properties, so a key like __proto__ stays a plain key.
  const values = Object.fromEntries(pairs);
  const wrong = inputViolation(field, values);
  if (wrong) throw usage(`${name}: ${wrong}`);
  return values;
}

function moneyValue(name: string, field: AnyField, text: string): unknown {
  const amount = parseAmount(text);
  if (amount === undefined) {
    const meant = amountBehindNoise(text);
    if (meant !== undefined)
      throw usage(`${name} ${quote(text)} has more than two decimals: write ${plainAmount(meant)}`);
    const limit = limitText(field);
    throw usage(
      `${name} ${quote(text)} is not an amount: write USD with at most two decimals, such as 25 or 1250.00${limit && `, ${limit}`}`,
    );
  }
  const wrong = violation(field, toUsd(amount));
  if (wrong) throw usage(`${name} ${wrong}`);
  return amount;
}

function checked(name: string, field: AnyField, text: string, value: unknown, form: string): unknown {
  if (value === undefined) throw usage(`${name} ${quote(text)} is not ${form}`);
  const wrong = typedIdViolation(field, value) ?? inputViolation({ ...field, must: true }, value);
  if (wrong === undefined) return value;
  if (wrong === HOLDS_SECRET || wrong === TYPED_NUMBER) throw usage(`${name} ${wrong}`);
  // A sentence about a number or a length names it itself.
  if (/^-?\d/.test(wrong)) throw usage(field.maxLength === undefined ? `${name} ${wrong}` : `${name}: ${wrong}`);
  throw usage(`${name} ${quote(text)} ${wrong}`);
}

/** What a copied short id ends with. */
export const SHORT_MARK = /(?:…|\.\.\.)$/u;

/** What was typed, shortened and unable to do anything to a terminal. */
export function quote(text: string): string {
  const points = [...text];
  return JSON.stringify(points.length > 60 ? `${points.slice(0, 60).join('')}…` : text);
}
