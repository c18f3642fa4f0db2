/** Why a plan must not be carried out any more: every reason, in words. A plan is an assertion; the account decides. */
import { DAY, HOUR } from '../core/durations.ts';
import { cents, centsOf, dollars, toCents } from '../core/money.ts';
import type { Account, CardRecords } from './account.ts';
import type { Fleet } from './fleet-file.ts';
import { fundChain, type Scope } from './keys.ts';
import { LEAST_AT_ONCE, MOST_AT_ONCE } from './layer.ts';
import { type Matched, matchCards } from './match.ts';
import { type Bound, type PlanDocument, spendingOfSteps } from './plan-document.ts';
import { type NumberedStep, PHASES } from './step.ts';

const LONGEST_LIFE_MS = 7 * DAY;

/** What is there now. */
export interface Now {
  /** The plan as it would be made now, with the same numbers allowed and the same BINs. */
  readonly fresh: PlanDocument;
  readonly fleet: Fleet;
  readonly account: Account;
  readonly records: ReadonlyMap<string, CardRecords>;
  readonly scope: Scope;
}

/** Reasons that need no look at the account: another file, service or fleet. */
export function foreignReasons(
  plan: PlanDocument,
  { fleet, bound }: Pick<PlanDocument, 'fleet' | 'bound'>,
): readonly string[] {
  const names: Readonly<Partial<Record<keyof Bound, string>>> = {
    origin: 'it was made for another service',
    mode: 'it was made for another mode',
    contract: 'the overrides of the contract have changed since it was made',
    file: 'the file has changed since the plan was made',
  };
  const other = (Object.keys(names) as (keyof Bound)[]).filter(name => plan.bound[name] !== bound[name]);
  return [
    ...(plan.fleet === fleet ? [] : [`it is of the fleet ${plan.fleet}, and the file is of ${fleet}`]),
    ...other.map(name => names[name] ?? name),
  ];
}

/** Empty where its steps may be sent as they are. */
export function staleReasons(plan: PlanDocument, now: Now): readonly string[] {
  return [
    ...timeReasons(plan, now.account.now),
    ...witnessReasons(plan, now.account),
    ...formReasons(plan, now.fresh),
    ...stepReasons(plan, now.fresh),
    ...topUpReasons(plan, now),
  ];
}

function timeReasons({ created_at, expires_at }: PlanDocument, now: number): readonly string[] {
  const [created, expires] = [Date.parse(created_at), Date.parse(expires_at)];
  if (now >= expires) return [`it has expired at ${expires_at}`];
  if (created > now + HOUR) return [`it was made at ${created_at}, which lies ahead`];
  return expires - created > LONGEST_LIFE_MS ? ['it is to be valid for more than seven days'] : [];
}

/** The account has no id, so its oldest cards stand for it. */
function witnessReasons(
  { bound: { witness } }: PlanDocument,
  { witness: here, witnessed }: Account,
): readonly string[] {
  if (witness.length === 0) return here.length === 0 ? [] : ['it was made for an account without cards'];
  const gone = witness.filter(id => !witnessed.has(id));
  return gone.length === 0 ? [] : [`it is of another account: ${gone.join(', ')} is not there`];
}

function formReasons({ steps, totals, caps }: PlanDocument, fresh: PlanDocument): readonly string[] {
  const isNumbered = steps.every(({ row, phase, do: deed }, index) => row === index + 1 && phase === PHASES[deed]);
  const inOrder = steps.every(({ phase }, index) => index === 0 || phase >= (steps[index - 1]?.phase ?? 0));
  const isSum = centsOf(totals.spend) === spendingOfSteps(steps);
  const isWhole = isNumbered && inOrder && isSum && JSON.stringify(caps) === JSON.stringify(fresh.caps);
  return isWhole ? [] : ['it is not as a plan is made'];
}

const isTopUp = ({ do: deed }: NumberedStep) => deed === 'fund';
const named = ({ do: deed, name }: NumberedStep) => `${name}: ${deed}`;

/** All steps but top-ups must be what they would be now, byte for byte; their numbers aside. */
function stepReasons(plan: PlanDocument, fresh: PlanDocument): readonly string[] {
  const text = ({ row: _, ...step }: NumberedStep) => JSON.stringify(step);
  const [then, now] = [plan, fresh].map(
    ({ steps }) => new Map(steps.filter(step => !isTopUp(step)).map(step => [text(step), step])),
  );
  const gone = [...(then ?? [])].filter(([key]) => now?.has(key) !== true).map(([, step]) => step);
  const come = [...(now ?? [])].filter(([key]) => then?.has(key) !== true).map(([, step]) => step);
  const changed = new Set(come.map(named));
  const repeated = plan.steps.filter(step => !isTopUp(step)).length !== (then?.size ?? 0);
  return [
    ...gone.map(step =>
      changed.has(named(step)) ? `${named(step)} is another by now` : `${named(step)} is no longer to be done`,
    ),
    ...come
      .filter(step => !gone.some(each => named(each) === named(step)))
      .map(step => `${named(step)} is to be done as well`),
    ...(repeated ? ['a step stands there twice'] : []),
  ];
}

/** A top-up is sent as it was planned where the card has no more than it had; the rest is for the next plan. */
function topUpReasons(plan: PlanDocument, now: Now): readonly string[] {
  const matched = new Map(matchCards(now.fleet, now.account).matched.map(each => [each.wish.name, each]));
  const unfrozen = new Set(plan.steps.flatMap(step => (step.do === 'unfreeze' ? [step.card] : [])));
  const seen = new Set<string>();
  const reasons: string[] = [];
  for (const step of plan.steps) {
    if (step.do !== 'fund') continue;
    const why = seen.has(step.card)
      ? 'is there twice'
      : topUpReason(step, { now, matched: matched.get(step.name), unfrozen });
    seen.add(step.card);
    if (why !== undefined) reasons.push(`${named(step)} ${why}`);
  }
  return reasons;
}

interface TopUpNow {
  readonly now: Now;
  readonly matched: Matched | undefined;
  readonly unfrozen: ReadonlySet<string>;
}

type Fund = Extract<NumberedStep, { readonly do: 'fund' | 'withdraw' }>;

function topUpReason(step: Fund, { now, matched, unfrozen }: TopUpNow): string | undefined {
  const card = matched?.present;
  const { wish } = matched ?? {};
  if (card === undefined || wish === undefined || card.id !== step.card) return 'is of a card that is gone';
  if (card.last4 !== step.last4) return 'is not as a plan is made';
  if (wish.floor === undefined || wish.topUpTo === undefined) return 'is not in the file';
  const isActive = card.status === 'active' || (card.status === 'frozen' && unfrozen.has(card.id));
  if (!isActive) return `is of a card that is ${card.status}`;
  const [amount, before] = [centsOf(step.amount), centsOf(step.seen.balance)];
  if (amount === undefined || before === undefined) return 'has no amount';
  if (card.balance > before) return `is of a card that has ${dollars(card.balance)}, more than ${dollars(before)}`;
  const fits =
    before < wish.floor && before + amount <= wish.topUpTo && amount >= LEAST_AT_ONCE && amount <= MOST_AT_ONCE;
  const { transaction } = step.seen;
  const chain = fundChain(now.scope, { card: card.id, balance: before, transaction, amount });
  if (!fits || step.key !== `${chain}.1`) return 'is not as a plan is made';
  const used = now.records.get(card.id)?.usedThisMonth;
  if (wish.monthlyCap === undefined) return undefined;
  if (used === undefined || used + card.balance + amount > wish.monthlyCap) {
    return `would take its month beyond ${dollars(wish.monthlyCap)}`;
  }
  return undefined;
}

/** Cents of a step's amount; nothing for a change of state. */
export function amountOf(step: NumberedStep) {
  if (step.do === 'create') return toCents(step.body.amount);
  return 'amount' in step ? toCents(step.amount) : cents(0);
}
