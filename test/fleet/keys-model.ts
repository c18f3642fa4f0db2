/**
 * Random histories of a fleet: applies that are killed at any step, lost their journal, lost answers, requests that land
 * late, an edited file, purchases, a wallet that is too low. The planner and the keys are those of the program; the policy
 * around them is written here.
 */
import { CliError } from '../../src/core/errors.ts';
import { toCents } from '../../src/core/money.ts';
import { planFleet } from '../../src/fleet/plan.ts';
import type { NumberedStep } from '../../src/fleet/step.ts';
import { type Answer, inputOf, MemoryAccount } from './memory-account.ts';

export interface Policy {
  /** `random`: new ones in each run, as other tools do. */
  readonly keys: 'derived' | 'random';
  readonly honoured: boolean;
  /** Before each list it is waited until nothing is on its way. */
  readonly settled: boolean;
  /** Two applies go on side by side. */
  readonly atOnce: boolean;
}

export interface Found {
  /** Histories with two cards of one marker. */
  secondCards: number;
  /** Histories in which a card got more than `top_up_to`. */
  aboveTopUp: number;
  /** Histories after which something is left to do. */
  notEmpty: number;
  /** Histories whose money does not add up. */
  lost: number;
  /** Cards of others that were touched. */
  touched: number;
}

/** mulberry32: the same numbers for the same seed. */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const TEXTS = [1, 2, 3].flatMap(count =>
  [25, 30].map(
    amount => `version: 1
fleet: ads
caps: {per_apply: 9000, cards: 99}
defaults: {bin: bin_1, amount: ${amount}}
cards:
  search: {label: search, floor: 20, top_up_to: 100}
  event: {label: "event {n}", count: ${count}}
`,
  ),
);
const TOP_UP_TO = 10_000;
const MOST_ATTEMPTS = 5;

interface History {
  readonly account: MemoryAccount;
  readonly policy: Policy;
  readonly random: () => number;
  readonly found: { above: boolean };
  text: string;
  /** Requests that are still on their way. */
  late: (() => void)[];
  keys: number;
}

/** Plays so many histories. */
export function playHistories(policy: Policy, histories: number, seed = 1): Found {
  const found: Found = { secondCards: 0, aboveTopUp: 0, notEmpty: 0, lost: 0, touched: 0 };
  for (let number = 0; number < histories; number += 1) playOne(policy, numbersFrom(seed * 1_000_003 + number), found);
  return found;
}

function playOne(policy: Policy, random: () => number, found: Found): void {
  const account = new MemoryAccount({ wallet: 6_000 + Math.floor(random() * 20_000), honoursKeys: policy.honoured });
  const stranger = account.make({ balance: 500, label: 'search' });
  const before = JSON.stringify(stranger);
  let total = account.total();
  const history: History = {
    account,
    policy,
    random,
    found: { above: false },
    text: pick(TEXTS, random),
    late: [],
    keys: 0,
  };
  const running: Generator<undefined>[] = [];
  for (let event = 0; event < 14; event += 1) {
    const draw = random();
    if (draw < 0.35) {
      if (running.length < (policy.atOnce ? 2 : 1)) running.push(apply(history, true));
    } else if (draw < 0.5) purchase(history);
    else if (draw < 0.6) history.text = pick(TEXTS, random);
    else if (draw < 0.7) {
      account.wallet += 10_000;
      total += 10_000;
    } else if (draw < 0.8) land(history, 1);
    for (const one of [...running]) {
      // Side by side they go step by step; alone an apply comes to its end.
      let steps = policy.atOnce ? 1 + Math.floor(random() * 3) : Number.POSITIVE_INFINITY;
      while (steps > 0 && running.includes(one)) {
        if (one.next().done === true) running.splice(running.indexOf(one), 1);
        steps -= 1;
      }
    }
  }
  land(history, Number.POSITIVE_INFINITY);
  account.wallet += 100_000;
  total += 100_000;
  const isTwice = !settleInTheEnd(history);
  if (isTwice) found.secondCards += 1;
  if (history.found.above) found.aboveTopUp += 1;
  if (!isTwice && planFleet(inputOf(account, history.text, { removals: 0 })).steps.length > 0) found.notEmpty += 1;
  if (account.total() !== total) found.lost += 1;
  if (JSON.stringify(stranger) !== before) found.touched += 1;
}

/** Applies without a fault until nothing is left; false where two cards stand for one name. */
function settleInTheEnd(history: History): boolean {
  for (let round = 0; round < 8; round += 1) {
    for (const _ of apply(history, false));
    const markers = history.account.cards.flatMap(({ metadata, status }) =>
      metadata['cardwright'] === undefined || status === 'terminated' ? [] : [metadata['cardwright']],
    );
    if (new Set(markers).size < markers.length) return false;
  }
  return true;
}

function pick<T>(from: readonly T[], random: () => number): T {
  return from[Math.floor(random() * from.length)] as T;
}

function purchase({ account, random }: History): void {
  const usable = account.cards.filter(
    card => card.status === 'active' && card.metadata['cardwright'] && card.balance > 0,
  );
  const card = pick(usable, random);
  if (card !== undefined) account.spend(card, 1 + Math.floor(random() * card.balance));
}

function land(history: History, most: number): void {
  for (const send of history.late.splice(0, most)) send();
}

/** One apply from its list to its end; each `next` is a step. With faults it may be killed between any two. */
function* apply(history: History, faulty: boolean): Generator<undefined> {
  const { account, policy, random } = history;
  if (policy.settled) land(history, Number.POSITIVE_INFINITY);
  yield undefined;
  let steps: readonly NumberedStep[];
  try {
    const { heldBack } = planFleet(inputOf(account, history.text));
    const allowed = Object.fromEntries(heldBack.map(held => [held.class, held.count]));
    ({ steps } = planFleet(inputOf(account, history.text, allowed)));
  } catch (thrown) {
    // Two cards of one marker: nothing is planned.
    if (thrown instanceof CliError) return;
    throw thrown;
  }
  for (const step of steps) {
    if (faulty && random() < 0.06) return;
    if (!sendStep(history, step, faulty)) return;
    yield undefined;
  }
}

/** False where the run stops. */
function sendStep(history: History, step: NumberedStep, faulty: boolean): boolean {
  const { account, random } = history;
  if (isBeyondAim(history, step)) return true;
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const key = keyOf(history, step, attempt);
    const draw = faulty ? random() : 1;
    // Lost on the way there.
    if (draw < 0.05) return true;
    if (draw < 0.13) {
      history.late.push(() => void land1(history, step, key));
      return true;
    }
    const answer = land1(history, step, key);
    // Lost on the way back; or killed before it was read.
    if (draw < 0.2) return true;
    if (draw < 0.24) return false;
    if (answer === 'reused' && isMade(account, step)) return true;
    const covers = answer === 'insufficient_funds' && account.wallet >= amountOf(step);
    if (answer !== 'reused' && !covers) return answer !== 'insufficient_funds';
  }
  return true;
}

function land1(history: History, step: NumberedStep, key: string): Answer {
  const answer = history.account.send(step, key);
  if (step.do === 'fund' && (history.account.card(step.card)?.balance ?? 0) > TOP_UP_TO) history.found.above = true;
  return answer;
}

/** The card is read just before a top-up is sent. */
function isBeyondAim({ account }: History, step: NumberedStep): boolean {
  if (step.do !== 'fund') return false;
  return (account.card(step.card)?.balance ?? 0) + toCents(step.amount) > TOP_UP_TO;
}

function isMade(account: MemoryAccount, step: NumberedStep): boolean {
  if (step.do !== 'create') return false;
  return account.cards.some(({ metadata }) => metadata['cardwright'] === step.body.metadata['cardwright']);
}

function amountOf(step: NumberedStep): number {
  if (step.do === 'create') return toCents(step.body.amount);
  return 'amount' in step ? toCents(step.amount) : 0;
}

function keyOf(history: History, step: NumberedStep, attempt: number): string {
  history.keys += 1;
  if (history.policy.keys === 'random' || !('key' in step)) return `random ${history.keys}`;
  return step.key.replace(/1$/, String(attempt));
}
