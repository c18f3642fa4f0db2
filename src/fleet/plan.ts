/**
 * What is to be done so that the account has the cards of the file: one function of the file, the cards, the BINs and the
 * time. Nothing is read or sent here, and nothing is remembered.
 */
import { CliError } from '../core/errors.ts';
import type { Account, ObservedBin, ObservedCard } from './account.ts';
import { CardPlanner } from './card-steps.ts';
import type { Difference } from './compare.ts';
import type { Fleet, Wish } from './fleet-file.ts';
import { type Match, matchCards } from './match.ts';
import type { Allowed, Candidate, PlanInput } from './plan-input.ts';
import { faultAt, faultyFleet } from './read.ts';
import { planRetired } from './retired-steps.ts';
import {
  GUARDED_CLASSES,
  type GuardedClass,
  type GuardedSteps,
  type NumberedStep,
  PHASES,
  type Planned,
  type Step,
} from './step.ts';
import { isBelowFloor } from './top-up.ts';

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
  const { fleet, account, file } = input;
  refuseRenamed(fleet, account);
  const match = input.match ?? matchCards(fleet, account);
  const faults = [
    ...match.lost.map(wish => faultAt(wish, 'card', `${wish.pin} is no card of this account`)),
    ...fleet.retired
      .filter(({ card }) => !account.cards.has(card))
      .map(({ card, place }) => ({ ...place, text: `${card} is no card of this account` })),
    ...fleet.retired
      .filter(({ since }) => Date.parse(`${since}T00:00:00Z`) > account.now)
      .map(({ since, sincePlace: { line, column } }) => ({
        ...{ line, column },
        text: `since ${since} lies ahead: at the service it is ${new Date(account.now).toISOString().slice(0, 10)}`,
      })),
    ...fleet.wishes.flatMap(wish => binFaults(wish, account.bins)),
  ];
  if (faults.length > 0) throw faultyFleet(faults, file);
  const planner = new CardPlanner(input);
  for (const matched of match.matched) planner.plan(matched);
  for (const card of match.left) planner.remove(card);
  const retired = planRetired(input);
  return concluded(input, match, { planner, retired });
}

interface Found {
  readonly planner: CardPlanner;
  readonly retired: ReturnType<typeof planRetired>;
}

function concluded({ fleet, account, allowed, locked }: PlanInput, match: Match, { planner, retired }: Found): Planned {
  const candidates = [...planner.candidates, ...retired.candidates];
  const { steps, heldBack } = chosen(candidates, { allowed, most: removalsOf(fleet) });
  const creates = steps.filter(step => step.do === 'create').length;
  const ends = steps.filter(step => step.do === 'terminate').length;
  const busy = new Set([
    ...steps.map(({ name }) => name),
    ...heldBack.flatMap(({ names }) => names),
    ...planner.blocked,
    ...planner.lockedNames,
  ]);
  return {
    steps: numbered(steps),
    differences: sortedDifferences(planner.differences),
    blocked: [...planner.blocked].sort(byName),
    heldBack,
    locked: locked.filter(({ name }) => planner.lockedNames.has(name)),
    toRetire: [...planner.toRetire].sort((a, b) => byName(a.name, b.name) || (a.card < b.card ? -1 : 1)),
    due: [...planner.due].sort((a, b) => byName(a.name, b.name)),
    notes: [...planner.notes, ...retired.notes, ...goneMoves(fleet, account)].sort(),
    asWanted: match.matched.filter(({ wish, present }) => present !== undefined && !busy.has(wish.name)).length,
    cardsAfter: match.live + creates - ends,
  };
}

/** Freezes that an edit of the file may cause without being asked about; none where it leaves no card. */
function removalsOf({ wishes }: Fleet): number {
  return wishes.length === 0 ? 0 : 1;
}

interface Limits {
  readonly allowed: Allowed;
  readonly most: number;
}

/** Steps that may be planned, and what is held back. Throws `guarded` where a number was allowed that is not the plan's. */
function chosen(candidates: readonly Candidate[], { allowed, most }: Limits) {
  const heldBack: GuardedSteps[] = [];
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
    if (name === 'unfreeze') left = withoutMoneyFor(of, left);
  }
  for (const name of GUARDED_CLASSES) {
    const said = allowed[name];
    if (said !== undefined && said !== counts[name]) throw otherNumber(name, said, counts[name] ?? 0);
  }
  return { steps: left.map(({ step }) => step), heldBack };
}

/** A card that stays frozen gets no money. */
function withoutMoneyFor(frozen: readonly Candidate[], candidates: readonly Candidate[]): readonly Candidate[] {
  const cards = new Set(frozen.map(({ step }) => ('card' in step ? step.card : '')));
  return candidates.filter(({ step }) => step.do !== 'fund' || !cards.has(step.card));
}

function otherNumber(name: GuardedClass, said: number, is: number): CliError {
  return new CliError('guarded', {
    reason: 'other_number',
    message: `--allow ${name}=${said}, but the plan has ${is}. Nothing was planned`,
    notes: [`Look at the plan without it; when ${is} is right: --allow ${name}=${is}`],
    outcome: 'not_sent',
  });
}

/** By phase, then by name, then by card: the order of the account and of the file changes nothing. */
function numbered(steps: readonly Step[]): readonly NumberedStep[] {
  const card = (step: Step) => ('card' in step ? step.card : '');
  return [...steps]
    .sort((a, b) => PHASES[a.do] - PHASES[b.do] || byName(a.name, b.name) || (card(a) < card(b) ? -1 : 1))
    .map((step, index) => ({ row: index + 1, phase: PHASES[step.do], ...step }));
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

function sortedDifferences(differences: readonly Difference[]): readonly Difference[] {
  return [...differences].sort(
    (a, b) => byName(a.name, b.name) || (a.field < b.field ? -1 : Number(a.field > b.field)),
  );
}

/** A BIN that is not there, or that allows less than the card's limit. */
function binFaults(wish: Wish, bins: readonly ObservedBin[]) {
  const { bin, limit } = wish;
  if (bin.by !== 'id') return [];
  const known = bins.find(({ id }) => id === bin.id);
  if (known === undefined) return [faultAt(wish, 'bin', `${bin.id} is no BIN of this service`)];
  const most = known.maxMonthly;
  if (limit === undefined || most === undefined || limit <= most) return [];
  return [faultAt(wish, 'limit', `the limit is above the ${most / 100} a month of ${bin.id}`)];
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

/** Moves whose card is over. A name may also be on the way of another one to the same card: then its line stays. */
function goneMoves({ name, moved }: Fleet, { cards }: Account): readonly string[] {
  const alive = new Set<string>();
  for (const { mark, status } of cards.values()) {
    if (mark?.fleet === name && status !== 'terminated') alive.add(mark.name);
  }
  const needed = new Set([...moved].flatMap(([old, to]) => (alive.has(old) ? [to] : [])));
  const gone = [...moved].filter(([old, to]) => !alive.has(old) && !needed.has(to)).map(([old]) => old);
  return gone.map(old => `moved: ${old} has no card now; delete the line`);
}
