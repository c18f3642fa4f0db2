/** Card numbers in texts and values that should hold none: found however they are written, and masked. */
import { asRead, REDACTED } from './secret-shapes.ts';

/** Digests, addresses and UUIDs: their digits are no number, however many stand side by side. */
const HEX = '(?<![0-9A-Za-z])(?:0x)?(?=[0-9a-f]*[a-f])(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})(?![0-9A-Za-z])';
const UUID = '(?<![0-9A-Za-z])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9A-Za-z])';
/** What stands between groups of digits. */
const DASHES = '\\-\\u2010-\\u2015\\u2212';
const BETWEEN = `(?:[ \\t${DASHES}]{1,2}|[._\\u00b7])`;
const RUN = new RegExp(`${HEX}|${UUID}|[0-9]+(?:${BETWEEN}[0-9]+)*`, 'gi');
/** Twelve more digits behind one, with little between them: most texts have none, and are done. */
const MAY_HOLD = new RegExp(`[0-9](?:${BETWEEN}?[0-9]){12}`);
const GROUP = /([0-9]+)([^0-9]*)/g;
const [SHORTEST, LONGEST] = [13, 19];

/**
 * The text without anything that could be a card number: 13 to 19 digits with a right check digit, alone or in groups
 * that are parted alike, also between letters.
 */
export function withoutCardNumbers(text: string): string {
  const read = asRead(text);
  if (!MAY_HOLD.test(read)) return text;
  const clean = read.replace(RUN, run => (/^[0-9]/.test(run) && !isHex(run) ? maskedRun(run) : run));
  return clean === read ? text : clean;
}

/** The check digit of card numbers; whatever is no digit is ignored. */
export function passesLuhn(text: string): boolean {
  let sum = 0;
  const digits = text.replace(/\D/g, '');
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits.length > 0 && sum % 10 === 0;
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
    digits += groups[index]?.digits ?? '';
    if (digits.length > LONGEST) break;
    if (digits.length >= SHORTEST && passesLuhn(digits)) found = index;
    if (kindOf(groups[index]?.between) !== kindOf(groups[first]?.between)) break;
  }
  return found;
}

/** Spaces and dashes are mixed by people; a dot between two of them is an amount's. */
const kindOf = (between = '') => (/^[._\u00b7]/.test(between) ? between : 'gap');
