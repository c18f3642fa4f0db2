/** A plan as a file: an assertion of what an apply will send, and why it may not be sent any more. */
import { createHash } from 'node:crypto';
import type { ValueOf } from '../contract/field.ts';
import { maybe, orNull, tells } from '../contract/own-field.ts';
import { DAY, HOUR, isoTime, wholeSeconds } from '../core/durations.ts';
import { notSent } from '../core/errors.ts';
import { type Cents, cents, centsOf, dollars, sumCents, toCents, toUsd } from '../core/money.ts';
import { isObject, jsonOrUndefined } from '../core/objects.ts';
import { shellWord } from '../core/shell-quote.ts';
import type { Account } from './account.ts';
import type { Fleet } from './fleet-file.ts';
import { type Allowed, type Deed, GUARDED_CLASSES, moneyParts, type NumberedStep, PHASES, type Scope } from './step.ts';

export const DEEDS = Object.keys(PHASES) as Deed[];
const COUNT = tells.count('How many steps.');

const STEP = {
  row: tells.count('Its number, from 1.'),
  phase: tells.count('1 to 6; a phase begins when the one before has ended.'),
  do: tells.word('What is done.', Object.keys(PHASES)),
  name: tells.text('Name of the card in the file.'),
  card: maybe(tells.text('The card; not of a create.')),
  last4: maybe(tells.text('Its last four digits.')),
  generation: maybe(tells.count('Of a create: one more than of the card before.')),
  amount: maybe(tells.usd('What is moved, USD.')),
  key: maybe(tells.text('Idempotency key; the same for the same intention everywhere.')),
  body: maybe(tells.json('Of a create: the request.')),
  instead: maybe(tells.text('Of a create: the card whose place it takes.')),
  why: tells.text('Why it is there.'),
  seen: maybe(tells.json('What was seen and must not have changed.')),
} as const;

/** Members of a plan, in the order they are written; money in USD. */
export const PLAN = {
  plan: tells.count('Version of the form: 1.'),
  id: tells.text('Digest of everything else.'),
  fleet: tells.text('Name of the fleet.'),
  created_at: tells.time('When it was made.'),
  expires_at: tells.time('When it may no longer be applied.'),
  bound: tells.object(
    {
      origin: tells.text('Base address of the service, or embedded.'),
      mode: tells.text('Kind of key.'),
      contract: tells.text('Digest of the overrides of the contract.'),
      file: tells.text('Digest of the bytes of the file.'),
      witness: tells.texts('The oldest card ids, three at most.'),
      version: tells.text('Of cardwright.'),
    },
    'What it holds for: another account, service or file makes it void.',
  ),
  caps: tells.object(
    {
      per_apply: tells.usd('Most that one apply takes from the wallet, USD.'),
      cards: tells.count('Most cards that are not terminated.'),
      wallet_reserve: tells.usd('Stays in the wallet, USD.'),
    },
    'Of the file.',
  ),
  totals: tells.object(
    {
      ...(Object.fromEntries(DEEDS.map(deed => [deed, COUNT])) as Record<Deed, typeof COUNT>),
      spend: tells.usd('What the steps take from the wallet, USD.'),
      returns: tells.usd('What comes back to it, USD.'),
      wallet: tells.usd('What it holds, USD.'),
      wallet_after: tells.usd('What it will hold, USD.'),
    },
    'Steps of each kind, and sums.',
  ),
  allowed: tells.json<Allowed>('Numbers that were allowed.'),
  steps: tells.rows(STEP, 'What is done, in this order.'),
  differences: tells.rows(
    {
      name: tells.text('Name of the card in the file.'),
      card: orNull(tells.text('The card.')),
      field: tells.text('What differs.'),
      class: tells.word('fixed: the service cannot change it. drift: it changed at the service.', [
        'fixed',
        'drift',
        'note',
      ]),
      is: tells.json('What it is.'),
      wanted: tells.json('What the file says.'),
    },
    'Where cards differ from the file.',
  ),
  blocked: tells.texts('Names with a fixed difference and no replace.'),
  held_back: tells.rows(
    {
      class: tells.word('Its class.', GUARDED_CLASSES),
      count: tells.count('How many steps.'),
      names: tells.texts('Of these cards.'),
    },
    'Steps that need --allow.',
  ),
  unknown: tells.rows(
    { name: tells.text('Name of the card in the file.'), op: tells.text('Operation to resume.') },
    'Names of which an outcome is not known.',
  ),
  to_retire: tells.rows(
    {
      card: tells.text('The card.'),
      name: tells.text('The name it had.'),
      balance: tells.usd('Its balance, USD.'),
    },
    'Frozen cards of which nothing more is wanted.',
  ),
  notes: tells.texts('What else is worth knowing.'),
  cards_after: tells.count('Cards of the fleet that are not terminated, when it is done.'),
  as_wanted: tells.count('Cards that are as the file says.'),
  strangers: tells.count('Other cards of the account; never touched.'),
} as const;

export interface PlanDocument extends Omit<ValueOf<typeof PLAN>, 'steps'> {
  readonly steps: readonly NumberedStep[];
}
type Bound = PlanDocument['bound'];

/** What a plan says of cards, in the order of its members. */
export type Planned = Pick<
  PlanDocument,
  | ('steps' | 'differences' | 'blocked' | 'held_back' | 'unknown' | 'to_retire')
  | ('notes' | 'cards_after' | 'as_wanted')
>;

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
    created_at: isoTime(created),
    expires_at: isoTime(created + LIFE_MS),
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
    ...planned,
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
  return sumCents(steps.filter(step => step.do === 'create' || step.do === 'fund').map(amountOf));
}

/** Cents that come back to the wallet. */
export function returnsOf(step: NumberedStep): Cents {
  if (step.do === 'withdraw') return toCents(step.amount);
  return step.do === 'terminate' ? toCents(step.returns) : cents(0);
}

function totalsOf(steps: readonly NumberedStep[], wallet: Cents): PlanDocument['totals'] {
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

// A plan file read back

/** `file` is what the user called it, `fleet` the fleet file as a word of a command. Throws `usage` for what is no plan, `guarded` for a plan that was edited. */
export function readPlanFile(text: string, file: string, fleet: string): PlanDocument {
  // What its id covers was written by cardwright.
  const plan = jsonOrUndefined(text) as PlanDocument | undefined;
  const hint = `cardwright fleet plan ${fleet} --out ${shellWord(nextPlanName(file))}`;
  if (!isObject(plan) || plan.plan !== 1 || typeof plan.id !== 'string')
    throw notSent('usage', `${file} is no plan of cardwright fleet plan, version 1`, { hint });
  if (planIdOf(plan) === plan.id) return plan;
  const message = `${file} was edited: it is not what its id says. Nothing was sent`;
  throw notSent('guarded', message, { reason: 'plan_edited', hint });
}

/** `plan.json` leads to `plan-2.json`, `plan-2.json` to `plan-3.json`: a plan file is never overwritten. */
export function nextPlanName(path: string): string {
  const [, stem = 'plan', number = '1'] = /^(.*?)(?:-(\d{1,4}))?(?:\.json)?$/s.exec(path) ?? [];
  return `${stem}-${Number(number) + 1}.json`;
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
    file: 'the fleet file is another one, or has changed since the plan was made',
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
