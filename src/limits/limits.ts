/**
 * What an account may spend and change, and what other persons must approve first. Limits come from three sources: the
 * managed file of the machine, the rules of the journal, and the profile. The strictest value of each limit counts, and a
 * refusal names the source that sets it.
 */
import { CALLS, type WriteName } from '../contract/calls.ts';
import { HOUR } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, cents, dollars, parseAmount, plainAmount, type Spending, spendingOf } from '../core/money.ts';

/** Limits of one source; what is absent limits nothing. Amounts are integer cents. */
export interface Limits {
  readonly read_only?: boolean;
  readonly max_per_call?: Cents;
  readonly max_per_run?: Cents;
  readonly max_per_day?: Cents;
  readonly max_cards?: number;
  readonly bins?: readonly string[];
  readonly approve_above?: Cents;
  readonly approve_day?: Cents;
  readonly approve_irreversible?: boolean;
  readonly approve_rows?: number;
  readonly approvals_needed?: number;
  readonly approve_within_hours?: number;
}

export type LimitName = keyof Limits;
type LimitValue = NonNullable<Limits[LimitName]>;

/** Where limits come from. */
export interface LimitSource {
  readonly kind: 'managed' | 'journal' | 'profile';
  /** Path of the file, id of the journal, or name of the profile. */
  readonly name: string;
}

export interface SourcedLimits {
  readonly source: LimitSource;
  readonly limits: Limits;
}

/** The limit that counts, and the source that sets it. */
export interface SetLimit<Value> {
  readonly value: Value;
  readonly source: LimitSource;
}

/** For each limit that is set anywhere, its strictest value. */
export type StrictestLimits = { readonly [Name in LimitName]?: SetLimit<NonNullable<Limits[Name]>> };

interface LimitRow {
  /** The value of a text; undefined for a text of another form. */
  readonly parse: (text: string) => LimitValue | undefined;
  /** Whether one value forbids something that the other allows. */
  readonly isStricter: (one: LimitValue, other: LimitValue) => boolean;
  /** What both allow, where neither of them is it. */
  readonly both?: (one: LimitValue, other: LimitValue) => LimitValue;
  readonly isAmount?: true;
  /** What holds where nobody sets it. */
  readonly unset?: LimitValue;
}

const BIN = /^[A-Za-z0-9_-]{1,128}$/;
const DAY_HOURS = 24;
const lower = (one: LimitValue, other: LimitValue) => one < other;
const higher = (one: LimitValue, other: LimitValue) => one > other;
const onOff: LimitRow = {
  parse: text => (text === 'true' ? true : text === 'false' ? false : undefined),
  isStricter: (one, other) => one === true && other !== true,
};
const amount: LimitRow = { parse: text => parseAmount(text), isStricter: lower, isAmount: true };
const count: LimitRow = { parse: text => numberWithin(text, 0, 999_999_999), isStricter: lower };

const ROWS: Readonly<Record<LimitName, LimitRow>> = {
  read_only: onOff,
  max_per_call: amount,
  max_per_run: amount,
  max_per_day: amount,
  max_cards: count,
  bins: {
    parse: parseBins,
    isStricter: (one, other) => (other as string[]).some(bin => !(one as string[]).includes(bin)),
    both: (one, other) => (one as string[]).filter(bin => (other as string[]).includes(bin)),
  },
  approve_above: amount,
  approve_day: amount,
  approve_irreversible: onOff,
  approve_rows: count,
  approvals_needed: { parse: text => numberWithin(text, 1, 9), isStricter: higher },
  // A week at most: afterwards somebody asks anew.
  approve_within_hours: { parse: text => numberWithin(text, 1, 168), isStricter: lower, unset: DAY_HOURS },
};

export const LIMIT_NAMES = Object.keys(ROWS) as readonly LimitName[];

export function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(ROWS, name);
}

/** Whether its value is an amount of money. */
export function isAmountLimit(name: LimitName): boolean {
  return ROWS[name].isAmount === true;
}

/** The value of a typed text, such as `250.00`, `true` or `bin_1,bin_2`; undefined for a text of another form. */
export function parseLimit(name: LimitName, text: string): LimitValue | undefined {
  return ROWS[name].parse(text);
}

/** A value as `parseLimit` reads it. */
export function limitText(name: LimitName, value: LimitValue): string {
  return ROWS[name].isAmount ? plainAmount(cents(value as number)) : String(value);
}

/** A value for people: `$250.00`, `true`, `bin_1, bin_2`. */
export function limitWords(name: LimitName, value: LimitValue): string {
  if (Array.isArray(value)) return value.join(', ');
  return ROWS[name].isAmount ? dollars(cents(value as number)) : String(value);
}

/** Limits among the settings of a profile, of a file or of a journal; undefined, with the name, for a value of another form. */
export function readLimits(values: object): { limits: Limits } | { wrong: LimitName } {
  const limits: Partial<Record<LimitName, LimitValue>> = {};
  for (const name of LIMIT_NAMES) {
    const value: unknown = (values as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) continue;
    const isPlain = ['string', 'number', 'boolean'].includes(typeof value);
    const isList = Array.isArray(value) && value.every(each => typeof each === 'string');
    const parsed = isPlain || isList ? parseLimit(name, String(value)) : undefined;
    if (parsed === undefined) return { wrong: name };
    limits[name] = parsed;
  }
  return { limits: limits as Limits };
}

/** For each limit the strictest value of all sources; of equal ones the first source is named. */
export function strictest(sources: readonly SourcedLimits[]): StrictestLimits {
  const found: Partial<Record<LimitName, SetLimit<LimitValue>>> = {};
  for (const { source, limits } of sources) {
    for (const name of LIMIT_NAMES) {
      const value: LimitValue | undefined = limits[name];
      if (value === undefined || value === false) continue;
      const before = found[name];
      const { isStricter, both = () => value } = ROWS[name];
      if (before === undefined) found[name] = { value, source };
      else if (isStricter(value, before.value)) found[name] = { value: both(before.value, value), source };
    }
  }
  return found as StrictestLimits;
}

/** Whether one limit in place of the other allows more; undefined is no limit. */
export function isLooser(name: LimitName, to: LimitValue | undefined, from: LimitValue | undefined): boolean {
  const { unset } = ROWS[name];
  const [next, before] = [to ?? unset, from ?? unset];
  if (before === undefined || before === false) return false;
  if (next === undefined || next === false) return true;
  return ROWS[name].isStricter(before, next);
}

/** Where a limit comes from, in words: `profile team`, `/etc/cardwright/limits.json`. */
export function sourceWords({ kind, name }: LimitSource): string {
  return kind === 'managed' ? name : `${kind} ${name}`;
}

/** Who can change a limit of that source. */
function whoChanges({ kind, name }: LimitSource, limit: LimitName): string {
  if (kind === 'managed') return `The administrator of this machine sets it, in ${name}.`;
  if (kind === 'journal') return 'An admin of the journal sets it: cardwright journal init <address> --limit.';
  return `You set it: cardwright profiles set ${name} ${limit} <value>; a higher limit is asked for at a terminal.`;
}

/** The refusal of a change by a limit: `guarded` (14), nothing was sent. Without words it is that of `read_only`. */
export function limitRefusal(name: LimitName, source: LimitSource, words = 'true, and nothing may be changed') {
  return new CliError('guarded', {
    message: `${name} of ${sourceWords(source)} is ${words}`,
    notes: [whoChanges(source, name)],
    reason: name,
    hint: 'cardwright whoami --json',
    outcome: 'not_sent',
  });
}

/** The refusal by a limit that needs no memory of the day; undefined where none refuses. */
export function overLimit(limits: StrictestLimits, spending: Spending): CliError | undefined {
  const { largest, total, cards, bins, isUncounted } = spending;
  if (limits.read_only !== undefined) return limitRefusal('read_only', limits.read_only.source);
  const counted = (['max_per_call', 'max_per_run', 'max_per_day', 'max_cards', 'bins'] as const).find(
    name => limits[name],
  );
  if (isUncounted && counted !== undefined) {
    const { source } = limits[counted] as SetLimit<LimitValue>;
    return limitRefusal(counted, source, 'set, and what this request moves cannot be counted');
  }
  const { max_per_call: perCall, max_per_run: perRun, max_cards: most, bins: allowed } = limits;
  if (perCall !== undefined && largest > perCall.value) {
    const words = `${dollars(perCall.value)} for one operation; ${dollars(largest)} asked`;
    return limitRefusal('max_per_call', perCall.source, words);
  }
  if (perRun !== undefined && total > perRun.value)
    return limitRefusal('max_per_run', perRun.source, `${dollars(perRun.value)} for one run; ${dollars(total)} asked`);
  if (most !== undefined && cards > most.value)
    return limitRefusal('max_cards', most.source, `${most.value} for one run; ${cards} asked`);
  const foreign = allowed === undefined ? [] : [...bins].filter(bin => !allowed.value.includes(bin));
  if (allowed === undefined || foreign.length === 0) return undefined;
  return limitRefusal('bins', allowed.source, `${allowed.value.join(', ') || 'empty'}; ${foreign.join(', ')} asked`);
}

/** The refusal by the limit of the day (UTC); `used` is what is spent and held today. */
export function overDay({ max_per_day: limit }: StrictestLimits, used: Cents, wanted: Cents): CliError | undefined {
  if (limit === undefined || wanted === 0 || used + wanted <= limit.value) return undefined;
  const words = `${dollars(limit.value)} for a day; ${dollars(used)} used today (UTC), ${dollars(wanted)} asked`;
  return limitRefusal('max_per_day', limit.source, words);
}

/** Why a plan is held until it is approved, in words that name the rule and its source. */
export interface HeldPlan {
  readonly why: string;
  /** Persons who must approve it. */
  readonly needed: number;
  /** How long the request stands, ms. */
  readonly standsMs: number;
}

/** A change as limits see it. */
type LimitedRow =
  Parameters<typeof spendingOf>[0] extends Iterable<infer Row> ? Row & { readonly operation: WriteName } : never;

/** `usedToday`: cents that left the wallet today (UTC) without an approval, or may still. Undefined where nothing holds the plan. */
export function heldPlan(limits: StrictestLimits, rows: readonly LimitedRow[], usedToday: Cents): HeldPlan | undefined {
  const why = whyHeld(limits, rows, usedToday);
  if (why === undefined) return undefined;
  const needed = limits.approvals_needed?.value ?? 1;
  return { why, needed, standsMs: (limits.approve_within_hours?.value ?? DAY_HOURS) * HOUR };
}

function whyHeld(limits: StrictestLimits, planned: readonly LimitedRow[], usedToday: Cents): string | undefined {
  const { approve_above: above, approve_day: day, approve_irreversible: final, approve_rows: rows } = limits;
  const { total, isUncounted = false } = spendingOf(planned);
  const isIrreversible = planned.some(({ operation }) => CALLS[operation].effect === 'irreversible');
  // Freezing is the safe direction.
  const changes = planned.filter(({ operation }) => operation !== 'cards.freeze').length;
  const of = (name: LimitName, { source }: SetLimit<unknown>) => `${name} of ${sourceWords(source)}`;
  if (above !== undefined && total > above.value)
    return `${of('approve_above', above)} is ${dollars(above.value)}, and ${dollars(total)} are asked for`;
  if (final !== undefined && isIrreversible)
    return `${of('approve_irreversible', final)} is set, and this cannot be undone`;
  if (rows !== undefined && changes > rows.value)
    return `${of('approve_rows', rows)} is ${rows.value}, and these are ${changes} rows`;
  if (day !== undefined && total > 0 && usedToday + total > day.value)
    return `${of('approve_day', day)} is ${dollars(day.value)}; ${dollars(usedToday)} moved today (UTC) without approval, and ${dollars(total)} are asked for`;
  const rule = above ?? day ?? final;
  if (isUncounted && rule !== undefined)
    return `${sourceWords(rule.source)} has a rule of approval, and what this request moves cannot be counted`;
  return undefined;
}

function parseBins(text: string): readonly string[] | undefined {
  const bins = text.split(',').map(bin => bin.trim());
  return bins.every(bin => BIN.test(bin)) ? [...new Set(bins)] : undefined;
}

function numberWithin(text: string, least: number, most: number): number | undefined {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  return number !== undefined && number >= least && number <= most ? number : undefined;
}
