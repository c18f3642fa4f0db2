/** Card numbers in texts that should hold none: 13 to 19 digits with a right check digit, in any script and groups. */
import { asRead, holdsKeyOrSecret, REDACTED } from './redaction.ts';

export const [SHORTEST_NUMBER, LONGEST_NUMBER] = [13, 19];

/** What may part two groups of digits: at most three characters. */
const DASHES = '\\-\\u2010-\\u2015\\u2212';
const BETWEEN = `(?:[ \\t][${DASHES}][ \\t]|[ \\t${DASHES}]{1,2}|\\r?\\n|[./_\\u00b7]| ?[,;:*|] ?)`;
/** Digests, addresses and UUIDs are passed over whole: their digits are no number. */
const HEX =
  '(?<![0-9a-z])(?:0x)?(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-z])';
const RUN = new RegExp(`${HEX}|[0-9]+(?:${BETWEEN}[0-9]+)*`, 'gi');
/** Groups as a card has them: fours and a rest, or 4-6-5 and 4-6-4. */
const CARD_GROUPS = /^(?:(?:4,){3,4}[1-4],|4,6,[45],)$/;
/** In any other groups a number counts that is whole by its network, where spaces, dashes and underscores alone part them. */
const NETWORK_NUMBER = /^(?:[2-6][0-9]{15}|3[47][0-9]{13})$/;

/**
 * Whether 13 digits stand close together, three characters apart at most: one pass, and nearly every text ends here. True
 * for a text that is not ASCII and long enough: its digits may be of another script.
 */
function mayHoldNumber(text: string): boolean {
  if (text.length < SHORTEST_NUMBER) return false;
  let [digits, gap] = [0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return true;
    if (code >= 0x30 && code <= 0x39) {
      digits += 1;
      gap = 0;
      if (digits === SHORTEST_NUMBER) return true;
    } else if (gap === 3 || (code >= 0x41 && code !== 0x5f && code !== 0x7c)) digits = 0;
    else gap += 1;
  }
  return false;
}

/** The text without card numbers, alone or in groups, also between letters. */
export function withoutCardNumbers(text: string): string {
  if (!mayHoldNumber(text)) return text;
  const read = asRead(text);
  const clean = read.replace(RUN, run => (/[a-z]/i.test(run) ? run : maskedRun(run)));
  return clean === read ? text : clean;
}

/** Other digits may stand before and behind a number, such as a status or an expiry: every stretch of groups is tried. */
function maskedRun(run: string): string {
  const parts = run.split(/([0-9]+)/).slice(1, -1);
  const hidden = new Set<number>();
  for (let first = 0; first < parts.length; first += 2) {
    let [digits, lengths, between] = ['', '', ''];
    for (let last = first; last < parts.length && digits.length <= LONGEST_NUMBER; last += 2) {
      const group = parts[last] ?? '';
      digits += group;
      lengths += `${group.length},`;
      const isOne =
        last === first ||
        CARD_GROUPS.test(lengths) ||
        (NETWORK_NUMBER.test(digits) && !/[,;:*|\n./\u00b7]/.test(between));
      if (isOne && isNumber(digits)) for (let part = first; part <= last; part += 1) hidden.add(part);
      between += parts[last + 1] ?? '';
    }
  }
  return parts.map((part, at) => (!hidden.has(at) ? part : hidden.has(at + 1) ? '' : REDACTED)).join('');
}

/** No network's cards begin with 0 or 1, as counters and times in milliseconds do; zeros in front are filled up with. */
function isNumber(digits: string): boolean {
  const number = digits.replace(/^0+/, '');
  return (
    number.length >= SHORTEST_NUMBER && number.length <= LONGEST_NUMBER && !number.startsWith('1') && passesLuhn(number)
  );
}

/**
 * The text of an error without the card number that somebody typed, in whatever words it is repeated. Where none was typed
 * the text stays: an id of a service may look like one.
 */
export function withoutTypedNumbers(text: string, typed: readonly string[]): string {
  const words = typed.join(' ');
  return withoutCardNumbers(words) === words ? text : withoutCardNumbers(text);
}

/** Whether a card number, an API key or the secret of a webhook stands in a text that is kept and sent in clear. */
export function containsSecret(text: string): boolean {
  return holdsKeyOrSecret(text) || withoutCardNumbers(text) !== text;
}

/** The check digit of card numbers; whatever is no digit is ignored. */
export function passesLuhn(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  return digits.length > 0 && luhnSum(digits) % 10 === 0;
}

/** The digit that makes `digits` followed by it pass the Luhn check. */
export function checkDigit(digits: string): string {
  return String((10 - (luhnSum(`${digits}0`) % 10)) % 10);
}

function luhnSum(digits: string): number {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum;
}

// Values that came from a service, without card numbers: an answer or an event that is no card's details.

type Members = Readonly<Record<string, unknown>>;

const LAST_FOUR = /last_?(?:4|four)$/i;
const CODE_NAME = /cv|cs|cid|code|pin|security/i;

/**
 * Hides what looks like a card number, in labels and metadata too, and three or four digits beside one under the name of a
 * code. Under a name that `staysWhole` knows, an id, where one number in ten would be taken for a card's, it is hidden only
 * where it ends in the last four digits beside it. The value is the very same where nothing was hidden; `hidden` and `inexact`,
 * which has too many digits for one number, say where: `acct`, `deep.list[].pan`.
 */
export function maskedValue(value: unknown, staysWhole: (name: string) => boolean) {
  const [hidden, inexact] = [new Set<string>(), new Set<string>()];
  let count = 0;
  const hide = (at: string, clean = REDACTED) => {
    count += 1;
    hidden.add(at);
    return clean;
  };
  /** `ending`: hide only what ends in these digits; an empty text hides nothing. */
  const masked = (part: unknown, at: string, ending: string | undefined): unknown => {
    if (typeof part === 'string') {
      const clean = ending === '' ? part : withoutCardNumbers(part);
      return clean === part || (ending !== undefined && !endsSo(part, ending)) ? part : hide(at, clean);
    }
    if (typeof part === 'number') {
      if (ending === undefined && isCardNumber(part)) return hide(at);
      if (isInexact(part)) inexact.add(at);
      return part;
    }
    if (Array.isArray(part)) return part.map(each => masked(each, `${at}[]`, ending));
    if (!isPlain(part)) return part;
    const lastFour = Object.entries(part).find(([name]) => LAST_FOUR.test(name))?.[1];
    const last4 = typeof lastFour === 'string' && /^\d{4}$/.test(lastFour) ? lastFour : '';
    const before = count;
    const under = (name: string) => (at === '' ? name : `${at}.${name}`);
    const members = Object.entries(part).map(([name, each]) => {
      const shown = withoutCardNumbers(name);
      if (shown !== name) hide(under(shown));
      return [shown, masked(each, under(name), ending ?? (staysWhole(name) ? last4 : undefined))] as const;
    });
    const holdsNumber = count > before;
    return Object.fromEntries(
      members.map(([name, each]) => [name, holdsNumber && isCode(name, each) ? hide(under(name)) : each]),
    );
  };
  const clean = mayHold(value, staysWhole) ? masked(value, '', undefined) : value;
  return { value: count === 0 ? value : clean, hidden: [...hidden], inexact: [...inexact] };
}

/** Whether a closer look is due: lists of a million rows come here, row by row. */
function mayHold(part: unknown, staysWhole: (name: string) => boolean): boolean {
  if (typeof part === 'string') return mayHoldNumber(part);
  if (typeof part === 'number') return Math.abs(part) >= 1e12;
  if (typeof part !== 'object' || part === null) return false;
  if (Array.isArray(part)) return part.some(each => mayHold(each, staysWhole));
  for (const name in part) {
    const value = (part as Members)[name];
    if (!mayHold(value, staysWhole) && !mayHoldNumber(name)) continue;
    if (typeof value !== 'string' || !staysWhole(name) || Object.keys(part).some(each => LAST_FOUR.test(each)))
      return true;
  }
  return false;
}

/** Whether one of the numbers in a text ends in these digits. */
function endsSo(text: string, ending: string): boolean {
  return new RegExp(`${[...ending].join('[^0-9]{0,2}')}(?![0-9])`).test(asRead(text));
}

/** A number was here, so three or four digits under such a name are its code. */
function isCode(name: string, part: unknown): boolean {
  return (
    CODE_NAME.test(name) && (typeof part === 'string' || typeof part === 'number') && /^\d{3,4}$/.test(String(part))
  );
}

function isCardNumber(value: number): boolean {
  const digits = String(value);
  if (!/^[2-9]\d+$/.test(digits) || digits.length < SHORTEST_NUMBER || digits.length > LONGEST_NUMBER) return false;
  // Beyond safe integers the last digits were rounded when it was read, and prove nothing.
  return !Number.isSafeInteger(value) || passesLuhn(digits);
}

/** Digits beyond safe integers are rounded when JSON is read, and a number beyond all of them becomes null. */
export function isInexact(value: number): boolean {
  return !Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

function isPlain(value: unknown): value is Members {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
