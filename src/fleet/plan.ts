/**
 * What is to be done so that the account has the cards of the file: one function of the file, the cards, the BINs and
 * the time.
 */

import { DAY } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { cents, plainAmount, toUsd } from '../core/money.ts';
import { placeIn } from '../terminal/yaml-file.ts';
import {
  type Account,
  type CardRecords,
  type Difference,
  differencesOf,
  MARKER_KEY,
  type Match,
  type Matched,
  matchCards,
  type ObservedBin,
  type ObservedCard,
} from './account.ts';
import { type Fleet, LEAST_AT_ONCE, markText, type Retired, type Wish } from './fleet-file.ts';
import type { Planned } from './plan-file.ts';
import { faultAt, faultyFleet } from './read.ts';
import {
  type Allowed,
  type Candidate,
  type CreateBody,
  createChain,
  GUARDED_CLASSES,
  type GuardedClass,
  isBelowFloor,
  moneyParts,
  PHASES,
  type PlanInput,
  type Step,
  stateDigest,
  topUpOf,
  type Why,
} from './step.ts';

/** Cards whose records decide something: below their floor, or retired and frozen. */
export function cardsToRead(fleet: Fleet, account: Account, match?: Match): readonly string[] {
  const { matched } = match ?? matchCards(fleet, account);
  const due = matched
    .filter(({ wish, present }) => present !== undefined && isBelowFloor(wish, present.balance))
    .flatMap(({ present }) => (present === undefined ? [] : [present.id]));
  const retired = fleet.retired.map(({ card }) => card).filter(id => account.cards.get(id)?.status === 'frozen');
  return [...new Set([...due, ...retired])];
}

/**
 * Throws `usage` for faults of the file that only the account can tell, `guarded` for a renamed fleet and for a number that
 * is not the plan's, `check_failed` where cards and names are not one for one.
 */
export function planFleet(input: PlanInput): Planned {
  const { fleet, account, file, allowed, locked } = input;
  refuseRenamed(fleet, account);
  const match = input.match ?? matchCards(fleet, account);
  const faults = [
    ...match.lost.map(wish => faultAt(fleet, wish, 'card', `${wish.pin} is no card of this account`)),
    ...fleet.retired
      .filter(({ card }) => !account.cards.has(card))
      .map(({ card }) => ({
        ...placeIn(fleet.root, ['retired', card], true),
        text: `${card} is no card of this account`,
      })),
    ...fleet.retired
      .filter(({ since }) => Date.parse(`${since}T00:00:00Z`) > account.now)
      .map(({ card, since }) => ({
        ...placeIn(fleet.root, ['retired', card, 'since']),
        text: `since ${since} lies ahead: at the service it is ${new Date(account.now).toISOString().slice(0, 10)}`,
      })),
    ...fleet.wishes.flatMap(wish => binFaults(fleet, wish, account.bins)),
  ];
  if (faults.length > 0) throw faultyFleet(faults, file);
  const planner = new CardPlanner(input);
  for (const matched of match.matched) planner.plan(matched);
  for (const card of match.left) planner.remove(card);
  const retired = planRetired(input);
  // An edit of the file may freeze one card without being asked about; none where it leaves no card.
  const most = fleet.wishes.length === 0 ? 0 : 1;
  const cardOf = (step: Step) => ('card' in step ? step.card : '');
  const { steps, heldBack } = chosen([...planner.candidates, ...retired.candidates], allowed, most);
  const creates = steps.filter(step => step.do === 'create').length;
  const ends = steps.filter(step => step.do === 'terminate').length;
  const busy = new Set([
    ...steps.map(({ name }) => name),
    ...heldBack.flatMap(({ names }) => names),
    ...planner.blocked,
    ...planner.lockedNames,
  ]);
  return {
    // By phase, then by name, then by card: the order of the account and of the file changes nothing.
    steps: [...steps]
      .sort((a, b) => PHASES[a.do] - PHASES[b.do] || byName(a.name, b.name) || (cardOf(a) < cardOf(b) ? -1 : 1))
      .map((step, index) => ({ row: index + 1, phase: PHASES[step.do], ...step })),
    differences: [...planner.differences].sort(
      (a, b) => byName(a.name, b.name) || (a.field < b.field ? -1 : Number(a.field > b.field)),
    ),
    blocked: [...planner.blocked].sort(byName),
    held_back: heldBack,
    unknown: locked.filter(({ name }) => planner.lockedNames.has(name)),
    to_retire: [...planner.toRetire].sort((a, b) => byName(a.name, b.name) || (a.card < b.card ? -1 : 1)),
    notes: [...planner.notes, ...retired.notes, ...goneMoves(fleet, account)].sort(),
    cards_after: match.live + creates - ends,
    as_wanted: match.matched.filter(({ wish, present }) => present !== undefined && !busy.has(wish.name)).length,
  };
}

/** Steps that may be planned, and what is held back. Throws `guarded` where a number was allowed that is not the plan's. */
function chosen(candidates: readonly Candidate[], allowed: Allowed, most: number) {
  const heldBack: Planned['held_back'][number][] = [];
  const hold = (name: GuardedClass, held: readonly Candidate[]) => {
    const names = held.map(({ step }) => step.name).sort(byName);
    if (held.length > 0) heldBack.push({ class: name, count: held.length, names });
  };
  const counts: Partial<Record<GuardedClass, number>> = {};
  let left = candidates;
  for (const name of GUARDED_CLASSES) {
    const of = left.filter(each => (name === 'removals' ? each.removes === true : each.class === name));
    counts[name] = of.length;
    const isFree = name === 'removals' && of.length <= most;
    if (isFree || allowed[name] === of.length) continue;
    hold(name, of);
    left = left.filter(each => !of.includes(each) && !(name === 'removals' && each.follows === true));
    // A card that stays frozen gets no money.
    const frozen = new Set(name === 'unfreeze' ? of.map(({ step }) => 'card' in step && step.card) : []);
    left = left.filter(({ step }) => step.do !== 'fund' || !frozen.has(step.card));
  }
  for (const name of GUARDED_CLASSES) {
    const said = allowed[name];
    const is = counts[name] ?? 0;
    if (said === undefined || said === is) continue;
    throw new CliError('guarded', {
      reason: 'other_number',
      message: `--allow ${name}=${said}, but the plan has ${is}. Nothing was planned`,
      notes: [`Look at the plan without it; when ${is} is right: --allow ${name}=${is}`],
      outcome: 'not_sent',
    });
  }
  return { steps: left.map(({ step }) => step), heldBack };
}

/** `event-2` before `event-10`. */
export function byName(one: string, other: string): number {
  const [a, b] = [padded(one), padded(other)];
  if (a === b) return one < other ? -1 : Number(one > other);
  return a < b ? -1 : 1;
}

function padded(name: string): string {
  return name.replace(/\d+/g, digits => digits.padStart(10, '0'));
}

/** A BIN that is not there, or that allows less than the card's limit. */
function binFaults(fleet: Fleet, wish: Wish, bins: readonly ObservedBin[]) {
  const { bin, limit } = wish;
  if (bin.by !== 'id') return [];
  const known = bins.find(({ id }) => id === bin.id);
  if (known === undefined) return [faultAt(fleet, wish, 'bin', `${bin.id} is no BIN of this service`)];
  const most = known.maxMonthly;
  if (limit === undefined || most === undefined || limit <= most) return [];
  return [faultAt(fleet, wish, 'limit', `the limit is above the ${most / 100} a month of ${bin.id}`)];
}

/** No card is known under this fleet's name, and all cards of another fleet are in the file. */
function refuseRenamed({ name, wishes }: Fleet, { cards, otherFleets }: Account): void {
  const isOurs = (card: ObservedCard) => card.mark?.fleet === name;
  if ([...cards.values()].some(isOurs)) return;
  const names = new Set(wishes.map(wish => wish.name));
  for (const [other, theirs] of otherFleets) {
    if (![...theirs].every(each => names.has(each))) continue;
    throw new CliError('guarded', {
      reason: 'renamed',
      message: `no card is of the fleet ${name}, and this file has the names of all cards of the fleet ${other}: a fleet with cards keeps its name`,
      notes: [
        `When ${other} has got a new name here: put fleet: ${other} back. The markers of its cards cannot be changed.`,
        `When ${name} is another fleet: give a card of this file a name that ${other} does not have.`,
      ],
      outcome: 'not_sent',
    });
  }
}

/** Moves whose card is over. */
function goneMoves({ name, moved }: Fleet, { cards }: Account): readonly string[] {
  const alive = new Set<string>();
  for (const { mark, status } of cards.values()) {
    if (mark?.fleet === name && status !== 'terminated') alive.add(mark.name);
  }
  const gone = [...moved.keys()].filter(old => !alive.has(old));
  return gone.map(old => `moved: ${old} has no card now; delete the line`);
}

// The steps of one card that is wanted, and of one that no longer is.

/** Takes the cards one by one. */
class CardPlanner {
  readonly candidates: Candidate[] = [];
  readonly differences: Difference[] = [];
  readonly blocked = new Set<string>();
  readonly lockedNames = new Set<string>();
  readonly toRetire: Planned['to_retire'][number][] = [];
  readonly notes: string[] = [];
  readonly #input: PlanInput;
  readonly #locked: ReadonlySet<string>;

  constructor(input: PlanInput) {
    this.#input = input;
    this.#locked = new Set(input.locked.map(({ name }) => name));
  }

  /** A card of the file. */
  plan(matched: Matched): void {
    const { wish, present, predecessors } = matched;
    if (this.#locked.has(wish.name)) {
      this.lockedNames.add(wish.name);
      return;
    }
    const overlapping = new Set(wish.replaced.filter(({ overlap }) => overlap).map(({ card }) => card));
    for (const card of predecessors) {
      if (card.status === 'active' && !overlapping.has(card.id)) this.#freeze(wish.name, card, 'replaced', true);
      else this.#retire(wish.name, card);
    }
    if (present === undefined) this.#missing(matched);
    else this.#present(matched, present, overlapping);
  }

  /** A card of this fleet that is in the file no more. */
  remove(card: ObservedCard): void {
    const name = card.mark?.name ?? card.id;
    if (this.#locked.has(name)) this.lockedNames.add(name);
    else if (card.status === 'active') this.#freeze(name, card, 'removed', true);
    else this.#retire(name, card);
  }

  #present({ wish, highest }: Matched, card: ObservedCard, overlapping: ReadonlySet<string>): void {
    const found = differencesOf(wish, card, this.#input.account.bins);
    this.differences.push(...found);
    if (wish.replaced.some(each => each.card === card.id)) {
      if (card.status === 'active' && !overlapping.has(card.id)) this.#freeze(wish.name, card, 'replaced', true);
      this.#create(wish, highest + 1, 'replaces', card);
      return;
    }
    if (found.some(each => each.class === 'fixed')) this.blocked.add(wish.name);
    this.#state(wish, card);
  }

  /** Freezing is done; what somebody else has frozen is unfrozen only when a person says so. */
  #state(wish: Wish, card: ObservedCard): void {
    const { name } = wish;
    if (wish.state === 'frozen') {
      if (card.status !== 'active') return;
      this.#drift(wish, card, 'active');
      this.#freeze(name, card, 'state', false);
      return;
    }
    if (card.status === 'active') this.#topUp(wish, card);
    if (card.status !== 'frozen') return;
    this.#drift(wish, card, 'frozen');
    const { id, last4 } = card;
    const step: Step = { do: 'unfreeze', name, card: id, last4, why: 'state', seen: stateDigest(card) };
    this.candidates.push({ step, class: 'unfreeze' });
    this.#topUp(wish, card);
  }

  #drift({ name, state }: Wish, card: ObservedCard, is: string): void {
    this.differences.push({ name, card: card.id, field: 'state', class: 'drift', is, wanted: state });
  }

  #topUp(wish: Wish, card: ObservedCard): void {
    const { name } = wish;
    const records = this.#input.records.get(card.id);
    const amount = records === undefined ? undefined : topUpOf(wish, card.balance, records);
    if (records === undefined || amount === undefined) return;
    if (amount === 0) {
      this.notes.push(`${name} is below its floor and is not funded: ${whyNotFunded(wish, card, records)}`);
      return;
    }
    const { id, last4, balance } = card;
    const money = { card: id, balance, transaction: records.newest, amount };
    const { amount: usd, key, seen } = moneyParts('fund', this.#input.scope, money);
    this.candidates.push({ step: { do: 'fund', name, card: id, last4, amount: usd, key, why: 'below_floor', seen } });
  }

  /** A wanted card that is not there: new, or ended by somebody. */
  #missing({ wish, highest, ended }: Matched): void {
    if (wish.state === 'frozen') {
      this.notes.push(`${wish.name} is to be frozen and there is no card: none is made`);
      return;
    }
    if (ended !== undefined) {
      const is = ended.status === 'terminated' ? 'terminated' : 'retired';
      this.differences.push({
        name: wish.name,
        card: ended.id,
        field: 'state',
        class: is === 'terminated' ? 'drift' : 'fixed',
        is,
        wanted: wish.state,
      });
    }
    this.#create(wish, highest + 1, ended === undefined ? 'new' : 'recreated', undefined);
  }

  #create(wish: Wish, generation: number, why: Why, instead: ObservedCard | undefined): void {
    const { name, amount } = wish;
    const { fleet, scope, file, pickBin, account } = this.#input;
    const fault = (field: string, text: string) => faultyFleet([faultAt(fleet, wish, field, text)], file);
    if (amount === undefined)
      throw fault('card', `${name} needs an amount: its card is gone, and a new one would be made`);
    const least = cents(Math.max(amount, wish.limit ?? 0));
    const bin = wish.bin.by === 'id' ? wish.bin.id : pickBin(wish.bin, { name, least });
    if (bin === undefined) throw fault('bin', `no BIN takes ${plainAmount(least)} a month and has these features`);
    const most = account.bins.find(({ id }) => id === bin)?.maxMonthly;
    if (wish.limit !== undefined && most !== undefined && wish.limit > most)
      throw fault('limit', `the limit is above the ${plainAmount(most)} a month of ${bin}`);
    const step: Step = {
      do: 'create',
      name,
      generation,
      key: `${createChain(scope, name, generation)}.1`,
      body: bodyOf(wish, { bin, marker: markText({ fleet: scope.fleet, name, generation }) }),
      why,
      ...(instead !== undefined && { instead: instead.id }),
    };
    // Where the card before is frozen, its freeze counts for the removal guard already.
    const isFrozen = this.candidates.some(({ step }) => step.do === 'freeze' && step.card === instead?.id);
    this.candidates.push({
      step,
      ...(why === 'recreated' && { class: 'recreate' }),
      ...(why === 'replaces' && (isFrozen ? { follows: true } : { removes: true })),
    });
  }

  #freeze(name: string, card: ObservedCard, why: Why, removes: boolean): void {
    const { id, last4 } = card;
    this.candidates.push({ step: { do: 'freeze', name, card: id, last4, why, seen: stateDigest(card) }, removes });
  }

  #retire(name: string, { id, balance }: ObservedCard): void {
    this.toRetire.push({ card: id, name, balance: toUsd(balance) });
  }
}

/** The request in the words of the interface; money as USD. */
function bodyOf(wish: Wish, { bin, marker }: { readonly bin: string; readonly marker: string }): CreateBody {
  const { amount, label, limit, categories, auto_freeze_at: freezeAt, metadata } = wish;
  const sorted = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    bin_id: bin,
    amount: toUsd(amount ?? cents(0)),
    ...(label !== undefined && { label }),
    ...(limit !== undefined && { spending_limit: toUsd(limit) }),
    ...(categories !== undefined && { allowed_categories: [...categories] }),
    ...(freezeAt != null && { auto_freeze_at: toUsd(freezeAt) }),
    metadata: { ...Object.fromEntries(sorted), [MARKER_KEY]: marker },
  };
}

/** Why a top-up that is due has no amount: the cap of the month, or less missing than can be sent. */
function whyNotFunded({ monthly_cap: cap }: Wish, { balance }: ObservedCard, { usedThisMonth }: CardRecords): string {
  const least = plainAmount(LEAST_AT_ONCE);
  const left = cap === undefined ? LEAST_AT_ONCE : cap - usedThisMonth - balance;
  if (cap === undefined || left >= LEAST_AT_ONCE) return `less than ${least} is missing`;
  const [used, held, most] = [usedThisMonth, balance, cap].map(plainAmount);
  return `${used} spent this month and ${held} on the card leave less than ${least} of its ${most}`;
}

// Cards that were retired by their ids

/** The steps of every line of `retired`. */
function planRetired(input: PlanInput) {
  const candidates: Candidate[] = [];
  const notes: string[] = [];
  for (const retired of input.fleet.retired) {
    const card = input.account.cards.get(retired.card);
    if (card === undefined) continue;
    const name = card.mark?.fleet === input.fleet.name ? card.mark.name : card.id;
    const found = stepOf(input, retired, card, name);
    if (typeof found === 'string') notes.push(found);
    else if (found !== undefined) candidates.push(found);
  }
  return { candidates, notes };
}

/** One candidate, or what is said in its place. */
function stepOf(input: PlanInput, retired: Retired, card: ObservedCard, name: string): Candidate | string | undefined {
  const { id, last4, status, balance } = card;
  const on = { name, card: id, last4 };
  if (status === 'terminated') return `retired: ${id} is terminated; delete the line`;
  if (status !== 'frozen') return { step: { do: 'freeze', ...on, why: 'retired', seen: stateDigest(card) } };
  const records = input.records.get(id);
  // What was not read is not known to be at rest.
  if (records === undefined) return undefined;
  if (isQuarantineOver(input, retired, records)) {
    const seen = stateDigest(card);
    const step = { do: 'terminate', ...on, why: 'quarantine_over', returns: toUsd(balance), seen } as const;
    return { step, class: 'terminate', removes: true };
  }
  if (!retired.drain || records.holdsOpen || balance <= 0) return undefined;
  const money = { card: id, balance, transaction: records.newest, amount: balance };
  const { amount, key, seen } = moneyParts('withdraw', input.scope, money);
  return { step: { do: 'withdraw', ...on, amount, key, why: 'drain', seen } };
}

/** By the day in the file and by the account: a day that was put too early is caught by what the card did since. */
function isQuarantineOver(
  { fleet, account }: PlanInput,
  { since }: Retired,
  { holdsOpen, lastUse }: CardRecords,
): boolean {
  const span = fleet.quarantineDays * DAY;
  if (Date.parse(`${since}T00:00:00Z`) + span > account.now || holdsOpen) return false;
  return lastUse === undefined || lastUse <= account.now - span;
}
