/** Which operations are held until other persons have agreed. Freezing is the safe direction and is never held. */
import type { WriteName } from '../../contract/calls.ts';
import { CALLS } from '../../contract/raw.ts';
import { DAY, HOUR } from '../../core/durations.ts';
import { type Cents, cents, dollars, parseAmount } from '../../core/money.ts';
import type { Spending } from '../../core/spending.ts';

/** What is absent holds nothing. */
export interface ApprovalRule {
  /** An operation that takes more than this from the wallet. */
  readonly above?: Cents | undefined;
  /** An operation with which more than this would leave the wallet on a day (UTC) without approval. */
  readonly day?: Cents | undefined;
  /** What cannot be undone. */
  readonly irreversible: boolean;
  /** A run of more rows than this. */
  readonly rows?: number | undefined;
  /** Persons who must agree. */
  readonly needed: number;
  /** How long a request stands, ms. */
  readonly standsMs: number;
}

/** What of the rows of a plan is judged, their amounts aside. */
export interface JudgedRows {
  /** Something in them cannot be undone. */
  readonly irreversible: boolean;
  /** Rows, those that freeze a card aside. */
  readonly rows: number;
}

/** What is judged. */
export interface JudgedPlan extends JudgedRows {
  readonly spending: Spending;
  /** What left the wallet on this day without approval. */
  readonly today: Cents;
}

/** What a raw request does is known to nobody here; it is judged by itself. */
export function judgedRows(rows: Iterable<{ readonly operation: WriteName }>): JudgedRows {
  let [irreversible, count] = [false, 0];
  for (const { operation } of rows) {
    irreversible ||= CALLS[operation].effect === 'irreversible';
    if (operation !== 'cards.freeze') count += 1;
  }
  return { irreversible, rows: count };
}

/** Why it is held, in words with the name of the setting; undefined when it is not. */
export function whyPending(rule: ApprovalRule, plan: JudgedPlan): string | undefined {
  const { total, untold = false } = plan.spending;
  if (rule.above !== undefined && total > rule.above)
    return `approve_above is ${dollars(rule.above)}, and ${dollars(total)} are asked for`;
  if (rule.irreversible && plan.irreversible) return 'approve_irreversible is set, and this cannot be undone';
  if (rule.rows !== undefined && plan.rows > rule.rows)
    return `approve_rows is ${rule.rows}, and these are ${plan.rows} rows`;
  if (rule.day !== undefined && total > 0 && plan.today + total > rule.day) {
    return `approve_day is ${dollars(rule.day)}; ${dollars(plan.today)} were moved today (UTC) without approval, and ${dollars(total)} are asked for now`;
  }
  // What a raw request moves is known to nobody here.
  if (untold && (rule.above !== undefined || rule.day !== undefined || rule.irreversible))
    return 'a rule of approval is set, and what this request moves cannot be counted';
  return undefined;
}

/** Both rules in one: what either of them holds is held, by as many persons as the stricter one asks for. */
export function stricter(one: ApprovalRule, other: ApprovalRule): ApprovalRule {
  const lower = <Amount extends number>(mine?: Amount, theirs?: Amount): Amount | undefined =>
    mine === undefined ? theirs : theirs === undefined || mine < theirs ? mine : theirs;
  return {
    above: lower(one.above, other.above),
    day: lower(one.day, other.day),
    irreversible: one.irreversible || other.irreversible,
    rows: lower(one.rows, other.rows),
    needed: Math.max(one.needed, other.needed),
    standsMs: Math.min(one.standsMs, other.standsMs),
  };
}

/** How long a request stands where nothing else is said. */
const USUAL_STAND_MS = DAY;

/** What a profile says of approvals; amounts are decimal USD text. */
export interface ApprovalSettings {
  readonly approve_above?: string | undefined;
  readonly approve_day?: string | undefined;
  readonly approve_irreversible?: boolean | undefined;
  readonly approve_rows?: number | undefined;
  readonly approvals_needed?: number | undefined;
  readonly approve_within_hours?: number | undefined;
}

export function ruleOfProfile(settings: ApprovalSettings): ApprovalRule {
  const amount = (text: string | undefined) => (text === undefined ? undefined : parseAmount(text));
  return {
    above: amount(settings.approve_above),
    day: amount(settings.approve_day),
    irreversible: settings.approve_irreversible === true,
    rows: settings.approve_rows,
    needed: settings.approvals_needed ?? 1,
    standsMs: standingFor(settings.approve_within_hours),
  };
}

/** The rule of an account whose values are cents, rows, persons and hours. */
export function ruleOfAccount(values: Readonly<Partial<Record<keyof ApprovalSettings, number>>>): ApprovalRule {
  const amount = (value: number | undefined) => (value === undefined ? undefined : cents(value));
  return {
    above: amount(values.approve_above),
    day: amount(values.approve_day),
    irreversible: (values.approve_irreversible ?? 0) > 0,
    rows: values.approve_rows,
    needed: values.approvals_needed ?? 1,
    standsMs: standingFor(values.approve_within_hours),
  };
}

function standingFor(hours: number | undefined): number {
  return hours === undefined ? USUAL_STAND_MS : hours * HOUR;
}

/** Whether it holds anything at all. */
export function isAnyRule({ above, day, irreversible, rows }: ApprovalRule): boolean {
  return above !== undefined || day !== undefined || irreversible || rows !== undefined;
}
