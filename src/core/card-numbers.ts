/** Card numbers in texts and values that should hold none: found however they are written, and masked. */
import { asRead, holdsKeyOrSecret, REDACTED } from './redaction.ts';

/** Digests, addresses and UUIDs: their digits are no number, however many stand side by side. */
const HEX = '(?<![0-9A-Za-z])(?:0x)?(?=[0-9a-f]*[a-f])(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})(?![0-9A-Za-z])';
const UUID = '(?<![0-9A-Za-z])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9A-Za-z])';
/** What stands between groups of digits. */
const DASHES = '\\-\\u2010-\\u2015\\u2212';
/** Between numbers of a list as well, so that only groups as a card's are taken for one. */
const LISTING = ' ?[,;:*|] ?';
const BETWEEN = `(?:[ \\t][${DASHES}][ \\t]|[ \\t${DASHES}]{1,2}|\\r?\\n|[./_\\u00b7]|${LISTING})`;
/** Groups of four, of which the last may be shorter, and those of a number with 15 digits. */
const CARD_GROUPS = /^(?:(?:4,){3}[1-4]|(?:4,){4}[1-3]|4,6,[45])$/;
/** Longer lines of digits are a list of numbers, and no number in groups. */
const LONGEST_LINE = 6;
const RUN = new RegExp(`${HEX}|${UUID}|[0-9]+(?:${BETWEEN}[0-9]+)*`, 'gi');
/** Twelve more digits behind one, with little between them: most texts have none, and are done. */
const MAY_HOLD = new RegExp(`[0-9](?:${BETWEEN}?[0-9]){12}`);
const GROUP = /([0-9]+)([^0-9]*)/g;
const [SHORTEST, LONGEST] = [13, 19];

/**
 * The text without anything that could be a card number: 13 to 19 digits with a right check digit that do not begin with
 * 0 or 1, alone or in groups that are parted alike, also between letters.
 */
export function withoutCardNumbers(text: string): string {
  const read = asRead(text);
  if (!MAY_HOLD.test(read)) return text;
  const clean = read.replace(RUN, run => (/^[0-9]/.test(run) && !isHex(run) ? maskedRun(run) : run));
  return clean === read ? text : clean;
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

const isHex = (run: string) => /[a-z]/i.test(run);

interface Group {
  readonly digits: string;
  /** What stands behind it. */
  readonly between: string;
}

/** Other digits may stand before and behind a number, such as a status or an expiry: every stretch of groups is tried. */
function maskedRun(run: string): string {
  const groups: Group[] = [...run.matchAll(GROUP)].map(([, digits = '', between = '']) => ({ digits, between }));
  const hidden = new Set<number>();
  for (let first = 0; first < groups.length; first += 1) {
    const last = lastOfNumber(groups, first);
    for (let index = first; index <= last; index += 1) hidden.add(index);
  }
  if (hidden.size === 0) return run;
  return groups
    .map(({ digits, between }, index) => {
      if (!hidden.has(index)) return `${digits}${between}`;
      return hidden.has(index + 1) ? '' : `${REDACTED}${between}`;
    })
    .join('');
}

/** The longest card number that begins with a group; -1 when none does. */
function lastOfNumber(groups: readonly Group[], first: number): number {
  let [digits, found] = ['', -1];
  for (let index = first; index < groups.length; index += 1) {
    const group = groups[index]?.digits ?? '';
    digits += group;
    if (digits.length > LONGEST || (kindOf(groups[first]?.between) === 'line' && group.length > LONGEST_LINE)) break;
    if (isNumber(digits) && isGroupedSo(groups.slice(first, index + 1))) found = index;
    if (kindOf(groups[index]?.between) !== kindOf(groups[first]?.between)) break;
  }
  return found;
}

/** Numbers of a list stand beside each other by chance: of those only the groups that a card's number has are one. */
function isGroupedSo(groups: readonly Group[]): boolean {
  if (groups.length === 1 || kindOf(groups[0]?.between) !== 'list') return true;
  return CARD_GROUPS.test(groups.map(({ digits }) => digits.length).join(','));
}

/** No network's cards begin with 0 or 1, as counters and times in milliseconds do; zeros in front are filled up with. */
function isNumber(digits: string): boolean {
  const number = digits.replace(/^0+/, '');
  return number.length >= SHORTEST && !number.startsWith('1') && passesLuhn(number);
}

/** Spaces and dashes are mixed by people; a dot between two of them is an amount's. */
function kindOf(between = ''): string {
  if (/[,;:*|]/.test(between)) return 'list';
  if (/^[./_\u00b7]/.test(between)) return between;
  return between.endsWith('\n') ? 'line' : 'gap';
}

export interface Masked {
  /** The very same value where nothing was hidden. */
  readonly value: unknown;
  /** Where something was: `acct`, `deep.list[].pan`. */
  readonly hidden: readonly string[];
}

type Members = Readonly<Record<string, unknown>>;

const LAST_FOUR = /last_?(?:4|four)$/i;
const CODE_NAME = /cv|cs|cid|code|pin|security/i;

/**
 * A value that came from a service, without card numbers: an answer or an event that is no card's details. Anything of
 * 13 to 19 digits with a right check digit is one, a label and metadata too. Under a name that `staysWhole` knows, an id,
 * where one number in ten would be taken for a card's, it is hidden only where it ends in the last four digits beside it.
 */
export function maskedValue(value: unknown, staysWhole: (name: string) => boolean): Masked {
  if (!mayHold(value)) return { value, hidden: [] };
  const hidden = new Set<string>();
  const masked = maskedPart(value, { at: '', ending: undefined, hidden, staysWhole });
  return { value: masked, hidden: [...hidden] };
}

/** Whether a closer look is due: lists of thousands come here, row by row. */
function mayHold(part: unknown): boolean {
  if (typeof part === 'string') return part.length >= SHORTEST && (MAY_HOLD.test(part) || /[^\x00-\x7f]/.test(part));
  if (typeof part === 'number') return part >= 1e12;
  if (Array.isArray(part)) return part.some(mayHold);
  if (!isPlain(part)) return false;
  for (const name in part) if (mayHold(part[name]) || mayHold(name)) return true;
  return false;
}

interface Place {
  readonly at: string;
  /** Hide only what ends in these digits; an empty text hides nothing. */
  readonly ending: string | undefined;
  readonly hidden: Set<string>;
  readonly staysWhole: (name: string) => boolean;
}

function maskedPart(part: unknown, place: Place): unknown {
  if (typeof part === 'string') return part.length < SHORTEST ? part : maskedText(part, place);
  if (typeof part === 'number') return isCardNumber(part) && place.ending === undefined ? hide(place) : part;
  if (Array.isArray(part))
    return same(
      part,
      part.map(each => maskedPart(each, { ...place, at: `${place.at}[]` })),
    );
  return isPlain(part) ? maskedMembers(part, place) : part;
}

function maskedText(text: string, { at, ending, hidden }: Place): string {
  if (!MAY_HOLD.test(asRead(text))) return text;
  if (ending !== undefined && (ending === '' || !text.replace(/\D/g, '').includes(ending))) return text;
  const clean = withoutCardNumbers(text);
  if (clean === text || (ending !== undefined && !endsSo(text, ending))) return text;
  hidden.add(at);
  return clean;
}

/** Whether one of the numbers in a text ends in these digits. */
function endsSo(text: string, ending: string): boolean {
  return new RegExp(`${[...ending].join('[^0-9]{0,2}')}(?![0-9])`).test(asRead(text));
}

function maskedMembers(members: Members, place: Place): unknown {
  const entries = Object.entries(members);
  const ending = entries.find(([name]) => LAST_FOUR.test(name))?.[1];
  const last4 = typeof ending === 'string' && /^\d{4}$/.test(ending) ? ending : '';
  const before = place.hidden.size;
  const under = (name: string): Place => ({
    ...place,
    at: place.at === '' ? name : `${place.at}.${name}`,
    ending: place.ending ?? (place.staysWhole(name) ? last4 : undefined),
  });
  const masked = entries.map(([name, part]) => [withoutCardNumbers(name), maskedPart(part, under(name))] as const);
  const isHere = place.hidden.size > before && masked.some(([, part], index) => part !== entries[index]?.[1]);
  const clean = isHere
    ? masked.map(([name, part]) => [name, isCode(name, part) ? hide(under(name)) : part] as const)
    : masked;
  const isSame = clean.every(([name, part], index) => name === entries[index]?.[0] && part === entries[index]?.[1]);
  return isSame ? members : Object.fromEntries(clean);
}

/** A number was here, so three or four digits under such a name are its code. */
function isCode(name: string, part: unknown): boolean {
  return (
    CODE_NAME.test(name) && (typeof part === 'string' || typeof part === 'number') && /^\d{3,4}$/.test(String(part))
  );
}

function isCardNumber(value: number): boolean {
  const digits = String(value);
  if (!/^[2-9]\d{12,18}$/.test(digits)) return false;
  // Beyond safe integers the last digits were rounded when it was read, and prove nothing.
  return !Number.isSafeInteger(value) || passesLuhn(digits);
}

function hide({ at, hidden }: Place): string {
  hidden.add(at);
  return REDACTED;
}

function same(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.every((each, index) => each === before[index]) ? before : after;
}

function isPlain(value: unknown): value is Members {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** UTF-8 read as Latin-1, or its escapes in JSON, that could be digits or what stands between them. */
const WRITTEN_OTHERWISE =
  /\xef\xbc[\x90-\x99]|\xd9[\xa0-\xa9]|\xdb[\xb0-\xb9]|\xdf[\x80-\x89]|\xe0(?:[\xa5\xa7\xa9\xab\xad\xaf\xb1\xb3\xb5][\xa6-\xaf]|[\xb9\xbb][\x90-\x99]|\xbc[\xa0-\xa9])|(?<!\\u)[0-9]{3,6}\\(?:[nt]|r\\n|\/)[0-9]{3}|[0-9](?:\xc2[\xa0\xad\xb7]|\xe2\x80[\x80-\xaf]|\xe2\x81\xa0|\xe3\x80\x80)[0-9]|\\u(?:003\d|000[ad]|06[6f]|0[7-9a-f][4-9c-f]|00[2ab][0-9ad]|20[0-6]|3000|ff1)/i;

/** Whether JSON text, its UTF-8 read as Latin-1, may hold a card number; quick where it holds none. */
export function mayHoldCardNumber(latin1: string): boolean {
  return WRITTEN_OTHERWISE.test(latin1) || (MAY_HOLD.test(latin1) && withoutCardNumbers(latin1) !== latin1);
}
