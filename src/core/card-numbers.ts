/** Card numbers in texts that should hold none: 13 to 19 digits with a right check digit, in any script and groups. */
import { isObject, type Values } from './objects.ts';
import { asRead, holdsKeyOrSecret, REDACTED } from './redaction.ts';

const [SHORTEST_NUMBER, LONGEST_NUMBER] = [13, 19];

/** Digests, addresses and UUIDs are one part, and too long for a card: their digits are no number. */
const HEX =
  '(?<![0-9a-z])(?:0x)?(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-z])';
const DIGITS = new RegExp(`(${HEX}|[0-9]+)`, 'i');
/** What may part two groups of digits. */
const GAP = /^(?:[\s\p{Pd}\u2212_]{1,3}| ?[.,/\u00b7;:*|] ?)$/u;
/** Groups as a card has them: fours and a rest, or 4-6-5 and 4-6-4, or all in one. */
const CARD_GROUPS = /^(?:(?:4,){3,4}[1-4]|4,6,[45]|[0-9]+)$/;
/** In any other groups a number counts that is whole by its network, where spaces, dashes and underscores alone part them. */
const NETWORK_NUMBER = /^(?:[2-6][0-9]{15}|3[47][0-9]{13})$/;
const PLAIN_GAPS = /^[^\r\n.,/\u00b7;:*|]*$/;

/** Whether 13 digits stand between two letters, or the digits may be of another script: nearly every text ends here. */
function mayHoldNumber(text: string): boolean {
  if (text.length < SHORTEST_NUMBER) return false;
  let digits = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code >= 0x30 && code <= 0x39) digits += 1;
    else if ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a) digits = 0;
    if (digits === SHORTEST_NUMBER || code > 0x7f) return true;
  }
  return false;
}

/**
 * The text without card numbers, alone or in groups, also between letters. Other digits may stand before and behind a number,
 * such as a status or an expiry: from every group on, each stretch of groups is tried.
 */
export function withoutCardNumbers(text: string): string {
  if (!mayHoldNumber(text)) return text;
  // Groups of digits, and at even places what stands between them.
  const parts = asRead(text).split(DIGITS);
  const hidden = new Set<number>();
  for (let first = 1; first < parts.length; first += 2) {
    let [digits, gaps] = ['', ''];
    const lengths: number[] = [];
    for (let last = first; last < parts.length && digits.length < LONGEST_NUMBER; last += 2) {
      const [gap = '', group = ''] = parts.slice(last - 1, last + 1);
      if (last > first && !GAP.test(gap)) break;
      if (last > first) gaps += gap;
      digits += group;
      lengths.push(group.length);
      const isOne = CARD_GROUPS.test(lengths.join()) || (NETWORK_NUMBER.test(digits) && PLAIN_GAPS.test(gaps));
      if (isOne && isNumber(digits)) for (let part = first; part <= last; part += 1) hidden.add(part);
    }
  }
  if (hidden.size === 0) return text;
  return parts.map((part, at) => (!hidden.has(at) ? part : hidden.has(at - 1) ? '' : REDACTED)).join('');
}

/** No network's cards begin with 0 or 1, as counters and times in milliseconds do; zeros in front are filled up with. */
function isNumber(digits: string): boolean {
  const number = digits.replace(/^0+/, '');
  return /^[2-9][0-9]{12,18}$/.test(number) && passesLuhn(number);
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

/** The check digit of card numbers. */
export function passesLuhn(digits: string): boolean {
  return luhnSum(digits) % 10 === 0;
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

/** Whether the last four digits of a card have that name. */
export const isLastFour = (name: string) => /last_?(?:4|four)$/i.test(name);

const CODE_NAME = /cv|cs|cid|code|pin|security/i;

/**
 * Hides what looks like a card number, in labels and metadata too, and three or four digits beside one under the name of a
 * code. What is called as `staysWhole` says is an id, and of those one in ten looks like a number: it is hidden where it ends in
 * the last four digits beside it. The value is the very same where nothing was hidden; `hidden` and `inexact`, which has too
 * many digits for one number, say where: `deep.list[].pan`.
 */
export function maskedValue(value: unknown, staysWhole: (name: string) => boolean) {
  const [hidden, inexact] = [new Set<string>(), new Set<string>()];
  const hide = (at: string, clean = REDACTED) => {
    hidden.add(at);
    return clean;
  };
  const masked = (part: unknown, at: string, name: string, beside: Values): unknown => {
    if (typeof part === 'string') {
      const clean = withoutCardNumbers(part);
      const isKept = clean === part || (staysWhole(name) && !endsInLastFour(part, beside));
      return isKept ? part : hide(at, clean);
    }
    if (typeof part === 'number') {
      if (isCardNumber(part) && !staysWhole(name)) return hide(at);
      if (isInexact(part)) inexact.add(at);
      return part;
    }
    if (Array.isArray(part)) {
      const place = `${at}[]`;
      const clean = part.map(each => masked(each, place, name, beside));
      return clean.some((each, index) => each !== part[index]) ? clean : part;
    }
    if (!isObject(part)) return part;
    // A copy is made only of what has to change.
    let copy: [name: string, part: unknown][] | undefined;
    for (const member in part) {
      const shown = withoutCardNumbers(member);
      const place = at === '' ? shown : `${at}.${shown}`;
      const clean = masked(part[member], place, member, part);
      if (shown !== member) hide(place);
      if (shown === member && clean === part[member]) continue;
      copy ??= Object.entries(part);
      copy = copy.map(each => (each[0] === member ? [shown, clean] : each));
    }
    if (copy === undefined) return part;
    const under = (member: string) => (at === '' ? member : `${at}.${member}`);
    // A number was here, so three or four digits under such a name are its code.
    const isCode = (member: string, each: unknown) =>
      CODE_NAME.test(member) && typeof each !== 'object' && /^[0-9]{3,4}$/.test(String(each));
    return Object.fromEntries(copy.map(([name, each]) => [name, isCode(name, each) ? hide(under(name)) : each]));
  };
  const clean = masked(value, '', '', {});
  return { value: clean, hidden: [...hidden], inexact: [...inexact] };
}

/** Whether a value has too few digits for a card number, as nearly every one has. */
export function isHarmless(part: unknown): boolean {
  if (typeof part === 'string') return !mayHoldNumber(part);
  if (typeof part === 'number') return Math.abs(part) < 1e12;
  return typeof part !== 'object' || part === null;
}

/** Whether a JSON number is a card number. Beyond safe integers the last digits were rounded when it was read, and prove nothing. */
export function isCardNumber(value: number): boolean {
  return Number.isSafeInteger(value) ? isNumber(String(value)) : /^[2-9][0-9]{12,18}$/.test(String(value));
}

/** Digits beyond safe integers are rounded when JSON is read, and a number beyond all of them becomes null. */
export function isInexact(value: number): boolean {
  return !Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

function endsInLastFour(text: string, beside: Values): boolean {
  const digits = text.replace(/[^0-9]/g, '');
  const isFour = (name: string) => isLastFour(name) && /^[0-9]{4}$/.test(String(beside[name]));
  return Object.keys(beside).some(name => isFour(name) && digits.endsWith(String(beside[name])));
}
