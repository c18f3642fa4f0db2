/** A plan as a file: an assertion of what an apply will send, and why it may not be sent any more. */
import { createHash } from 'node:crypto';
import { DAY, HOUR } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, cents, centsOf, dollars, sumCents, toCents, toUsd } from '../core/money.ts';
import { shellWord } from '../core/shell-quote.ts';
import { v } from '../terminal/yaml-file.ts';
import type { Account } from './account.ts';
import type { Fleet } from './fleet-file.ts';
import {
  type Allowed,
  type Deed,
  type Frozen,
  GUARDED_CLASSES,
  moneyParts,
  NUMBERED_STEP,
  type NumberedStep,
  PHASES,
  type Planned,
  type Scope,
} from './step.ts';

const TEXT = v.string();
const NUMBER = v.number();
const DEEDS = Object.keys(PHASES) as Deed[];

/** What a plan holds for: another account, service or file makes it void. */
const BOUND = v.object({
  origin: TEXT,
  mode: TEXT,
  /** Digest of the contract's overrides. */
  contract: TEXT,
  /** Digest of the bytes of the file. */
  file: TEXT,
  /** The oldest card ids, three at most. */
  witness: v.array(TEXT),
  /** Of cardwright. */
  version: TEXT,
});

/** The JSON of a plan, in the order it is written; money in USD. */
const PLAN = v.object({
  plan: v.literal(1),
  /** `plan_` and a digest of everything else. */
  id: TEXT,
  fleet: TEXT,
  /** ISO 8601 UTC, by the clock of the service. */
  created_at: TEXT,
  expires_at: TEXT,
  bound: BOUND,
  caps: v.object({ per_apply: NUMBER, cards: NUMBER, wallet_reserve: NUMBER }),
  /** Counts of each deed, and sums. */
  totals: v.object({
    ...v.entriesFromList(DEEDS, NUMBER),
    spend: NUMBER,
    returns: NUMBER,
    wallet: NUMBER,
    wallet_after: NUMBER,
  }),
  allowed: v.object(v.entriesFromList(GUARDED_CLASSES, v.exactOptional(NUMBER))),
  steps: v.array(NUMBERED_STEP),
  differences: v.array(
    v.object({
      name: TEXT,
      card: v.nullable(TEXT),
      field: TEXT,
      class: v.picklist(['fixed', 'drift', 'note']),
      is: v.unknown(),
      wanted: v.unknown(),
    }),
  ),
  blocked: v.array(TEXT),
  held_back: v.array(v.object({ class: v.picklist(GUARDED_CLASSES), count: NUMBER, names: v.array(TEXT) })),
  unknown: v.array(v.object({ name: TEXT, op: TEXT })),
  to_retire: v.array(v.object({ card: TEXT, name: TEXT, balance: NUMBER })),
  notes: v.array(TEXT),
  cards_after: NUMBER,
  as_wanted: NUMBER,
  strangers: NUMBER,
});

type Bound = Frozen<v.InferOutput<typeof BOUND>>;
export type PlanDocument = Frozen<v.InferOutput<typeof PLAN>>;
type Totals = PlanDocument['totals'];

/** How long a plan may be applied: that of a pull request is applied when it is merged. */
const LIFE_MS = DAY;

interface Circumstances {
  readonly fleet: Fleet;
  readonly account: Account;
  readonly scope: Scope;
  readonly allowed: Allowed;
  /** The text of the file. */
  readonly content: string;
  /** The contract's overrides, as they are. */
  readonly overrides: unknown;
  readonly version: string;
}

/** Equal for equal plans at one time of the service. */
export function planDocument(planned: Planned, around: Circumstances): PlanDocument {
  const { fleet, account, scope, allowed, content, overrides, version } = around;
  const { caps } = fleet;
  const created = wholeSeconds(account.now);
  return withId({
    plan: 1,
    id: '',
    fleet: fleet.name,
    created_at: isoOf(created),
    expires_at: isoOf(created + LIFE_MS),
    bound: {
      origin: scope.origin,
      mode: scope.mode,
      contract: digestOf(JSON.stringify(overrides)),
      file: digestOf(content),
      witness: account.witness,
      version,
    },
    caps: { per_apply: toUsd(caps.per_apply), cards: caps.cards, wallet_reserve: toUsd(caps.wallet_reserve) },
    totals: totalsOf(planned.steps, account.wallet),
    allowed,
    steps: planned.steps,
    differences: planned.differences,
    blocked: planned.blocked,
    held_back: planned.heldBack,
    unknown: planned.locked,
    to_retire: planned.toRetire.map(({ card, name, balance }) => ({ card, name, balance: toUsd(balance) })),
    notes: planned.notes,
    cards_after: planned.cardsAfter,
    as_wanted: planned.asWanted,
    strangers: account.strangers,
  });
}

/** The document with the id that its other members have. */
export function withId(document: PlanDocument): PlanDocument {
  return { ...document, id: planIdOf(document) };
}

const ID_DIGITS = 32;

/** The digest of everything but the id. */
function planIdOf({ id: _, ...rest }: PlanDocument): string {
  return `plan_${createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, ID_DIGITS)}`;
}

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** Whether anything is to be done or decided. */
export function differs({ steps, blocked, held_back: heldBack }: PlanDocument): boolean {
  return steps.length + blocked.length + heldBack.length > 0;
}

/** Cents that the steps take from the wallet. */
function spendingOfSteps(steps: readonly NumberedStep[]): Cents {
  return sumCents(steps.map(spentBy));
}

function spentBy(step: NumberedStep): Cents {
  if (step.do === 'create') return toCents(step.body.amount);
  return step.do === 'fund' ? toCents(step.amount) : cents(0);
}

/** Cents that come back to the wallet. */
export function returnsOf(step: NumberedStep): Cents {
  if (step.do === 'withdraw') return toCents(step.amount);
  return step.do === 'terminate' ? toCents(step.returns) : cents(0);
}

function totalsOf(steps: readonly NumberedStep[], wallet: Cents): Totals {
  const count = (deed: Deed) => steps.filter(step => step.do === deed).length;
  const counts = Object.fromEntries(DEEDS.map(deed => [deed, count(deed)]));
  const spend = spendingOfSteps(steps);
  const returns = sumCents(steps.map(returnsOf));
  return {
    ...(counts as Record<Deed, number>),
    spend: toUsd(spend),
    returns: toUsd(returns),
    wallet: toUsd(wallet),
    wallet_after: toUsd(cents(wallet + returns - spend)),
  };
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

// A plan file read back

/** `file` is what the user called it, `fleet` the fleet file as a word of a command. Throws `usage` for what is no plan, `guarded` for a plan that was edited. */
export function readPlanFile(text: string, file: string, fleet?: string): PlanDocument {
  const plan = parsed(text);
  const out = shellWord(nextPlanName(file));
  const hint =
    fleet === undefined ? `cardwright fleet plan --out ${out}` : `cardwright fleet plan ${fleet} --out ${out}`;
  if (plan === undefined) {
    throw new CliError('usage', {
      message: `${file} is no plan of cardwright fleet plan, version 1`,
      hint,
      outcome: 'not_sent',
    });
  }
  if (planIdOf(plan) === plan.id) return plan;
  throw new CliError('guarded', {
    reason: 'plan_edited',
    message: `${file} was edited: it is not what its id says. Nothing was sent`,
    hint,
    outcome: 'not_sent',
  });
}

/** `plan.json` leads to `plan-2.json`, `plan-2.json` to `plan-3.json`: a plan file is never overwritten. */
export function nextPlanName(path: string): string {
  const [, stem = 'plan', number = '1'] = /^(.*?)(?:-(\d{1,4}))?(?:\.json)?$/s.exec(path) ?? [];
  return `${stem}-${Number(number) + 1}.json`;
}

/** Undefined for another text. */
function parsed(text: string): PlanDocument | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return v.is(PLAN, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

// Why a plan must not be executed any more

/** What is there now. */
interface Now {
  /** The plan as it would be made now, with the same numbers allowed and the same BINs. */
  readonly fresh: PlanDocument;
  readonly account: Account;
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
    ...stepReasons(plan, now),
  ];
}

function timeReasons({ created_at, expires_at }: PlanDocument, now: number): readonly string[] {
  const [created, expires] = [Date.parse(created_at), Date.parse(expires_at)];
  if (now >= expires) return [`it has expired at ${expires_at}`];
  if (created > now + HOUR) return [`it was made at ${created_at}, which lies ahead`];
  return expires - created > LIFE_MS ? ['it is to be valid for more than a day'] : [];
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

const named = ({ do: deed, name }: NumberedStep) => `${name}: ${deed}`;

/**
 * Steps must be what they would be now, byte for byte, their numbers aside. A top-up is sent as it was planned where a plan of now
 * would send as much or more: the rest is for the next one, and so is a card that has fallen below its floor since.
 */
function stepReasons({ steps }: PlanDocument, { fresh, scope }: Now): readonly string[] {
  const idOf = (step: NumberedStep) => `${named(step)} ${'card' in step ? step.card : ''}`;
  const planned = new Map(steps.map(step => [idOf(step), step]));
  const reasons = planned.size === steps.length ? [] : ['a step stands there twice'];
  for (const now of fresh.steps) {
    const then = planned.get(idOf(now));
    planned.delete(idOf(now));
    if (then === undefined) {
      if (now.do !== 'fund') reasons.push(`${named(now)} is to be done as well`);
    } else if (now.do === 'fund' && then.do === 'fund' && now.amount < then.amount)
      reasons.push(`${named(now)} would be ${dollars(toCents(now.amount))} by now`);
    else if (
      textOf(now.do === 'fund' && then.do === 'fund' ? { ...now, ...asPlanned(then, scope) } : now) !== textOf(then)
    )
      reasons.push(`${named(now)} is another by now`);
  }
  return [...reasons, ...[...planned.values()].map(step => `${named(step)} is no longer to be done`)];
}

const textOf = ({ row: _, ...step }: NumberedStep) => JSON.stringify(step);

/** The money of a top-up with the key that follows from what its plan has seen. */
function asPlanned({ card, amount, seen }: Extract<NumberedStep, { readonly do: 'fund' | 'withdraw' }>, scope: Scope) {
  const { transaction } = seen;
  return moneyParts('fund', scope, { card, balance: toCents(seen.balance), transaction, amount: toCents(amount) });
}

/** Cents of a step's amount; nothing for a change of state. */
export function amountOf(step: NumberedStep) {
  if (step.do === 'create') return toCents(step.body.amount);
  return 'amount' in step ? toCents(step.amount) : cents(0);
}
