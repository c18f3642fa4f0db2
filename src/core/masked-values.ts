/** Values that came from a service, without card numbers: an answer or an event that is no card's details. */
import { LONGEST_NUMBER, mayHoldNumber, passesLuhn, SHORTEST_NUMBER, withoutCardNumbers } from './card-numbers.ts';
import { asRead, REDACTED } from './redaction.ts';

export interface Masked {
  /** The very same value where nothing was hidden. */
  readonly value: unknown;
  /** Where something was: `acct`, `deep.list[].pan`. */
  readonly hidden: readonly string[];
  /** Where a number has more digits than are kept of one, so that it may have come with others. */
  readonly inexact: readonly string[];
}

type Members = Readonly<Record<string, unknown>>;

const LAST_FOUR = /last_?(?:4|four)$/i;
const CODE_NAME = /cv|cs|cid|code|pin|security/i;

/**
 * Hides what looks like a card number, in labels and metadata too, and three or four digits beside one under the name of a
 * code. Under a name that `staysWhole` knows, an id, where one number in ten would be taken for a card's, it is hidden only
 * where it ends in the last four digits beside it.
 */
export function maskedValue(value: unknown, staysWhole: (name: string) => boolean): Masked {
  if (!mayHold(value, staysWhole)) return { value, hidden: [], inexact: [] };
  const [hidden, inexact] = [new Set<string>(), new Set<string>()];
  const masked = maskedPart(value, { at: '', ending: undefined, hidden, inexact, staysWhole });
  return { value: masked, hidden: [...hidden], inexact: [...inexact] };
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

interface Place {
  readonly at: string;
  /** Hide only what ends in these digits; an empty text hides nothing. */
  readonly ending: string | undefined;
  readonly hidden: Set<string>;
  readonly inexact: Set<string>;
  readonly staysWhole: (name: string) => boolean;
}

function maskedPart(part: unknown, place: Place): unknown {
  if (typeof part === 'string') return maskedText(part, place);
  if (typeof part === 'number') {
    if (isCardNumber(part) && place.ending === undefined) return hide(place);
    if (isInexact(part)) place.inexact.add(place.at);
    return part;
  }
  if (!Array.isArray(part)) return isPlain(part) ? maskedMembers(part, place) : part;
  const masked = part.map(each => maskedPart(each, { ...place, at: `${place.at}[]` }));
  return masked.every((each, index) => each === part[index]) ? part : masked;
}

function maskedText(text: string, { at, ending, hidden }: Place): string {
  if (ending === '' || !mayHoldNumber(text)) return text;
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
  if (!/^[2-9]\d+$/.test(digits) || digits.length < SHORTEST_NUMBER || digits.length > LONGEST_NUMBER) return false;
  // Beyond safe integers the last digits were rounded when it was read, and prove nothing.
  return !Number.isSafeInteger(value) || passesLuhn(digits);
}

/** Digits beyond safe integers are rounded when JSON is read, and a number beyond all of them becomes null. */
export function isInexact(value: number): boolean {
  return !Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

function hide({ at, hidden }: Place): string {
  hidden.add(at);
  return REDACTED;
}

function isPlain(value: unknown): value is Members {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
