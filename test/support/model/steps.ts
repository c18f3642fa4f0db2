/** Random steps: what is asked, weighted so that rare states come about, and what the model expects of it. */

import type { ModelService } from './service.ts';
import type { Request } from './socket-client.ts';
import { type Authorization, type Bin, type Card, DAY, type Expected, type Purchase } from './state.ts';

/** Numbers fixed by a seed: mulberry32. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 (inclusive) to `below` (exclusive), whole. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }

  /** One of the newest few that are as wanted, now and then any. */
  mostly<T>(items: readonly T[], wanted: (item: T) => boolean): T | undefined {
    const fit = this.chance(85) ? items.filter(wanted) : [];
    const from = fit.length > 0 ? fit : items;
    return this.pick(this.chance(80) ? from.slice(-4) : from);
  }
}

export interface Step {
  readonly op: string;
  readonly request: Request;
  readonly expected: Expected;
  /** Sent again later with the same key; kept until a day is over. */
  readonly keyed?: { readonly key: string };
}

export interface Scene {
  readonly model: ModelService;
  readonly chance: Chance;
  readonly bins: readonly Bin[];
  /** For keys that no other step of the run has. */
  readonly newKey: () => string;
}

type Maker = (scene: Scene) => Step;

const isLiving = ({ status }: Card) => status !== 'terminated';
const isFrozen = ({ status }: Card) => status === 'frozen';
const isPending = ({ status }: { readonly status: string }) => status === 'pending';
const isPaid = ({ settled, refunded }: Authorization) => settled > refunded;

const ADMIN = '/_sandbox/v1';
const usd = (amount: number) => amount / 100;

const amountOf = (chance: Chance) => {
  const size = chance.below(6);
  if (size === 0) return 1 + chance.below(300);
  return size === 5 ? 40_000 + chance.below(20_000) : 100 + chance.below(11_900);
};
/** Amounts at the edges of a card: all it has, a cent more, down to its line, up to its limits. */
function edgeOf(chance: Chance, card: Card | undefined): number {
  if (card === undefined || !chance.chance(20)) return amountOf(chance);
  const { balance, line, limit, maxTransaction } = card;
  const edges = [balance, balance + 1, balance - (line ?? 0), limit, limit + 1, maxTransaction, maxTransaction + 1];
  const edge = chance.pick(edges) ?? 1;
  return edge > 0 ? edge : amountOf(chance);
}
const maybe = (chance: Chance, amount: number) => (chance.chance(50) ? amount : undefined);
const simulate = (path: string, body?: Request['body']): Request => ({
  method: 'POST',
  path: `${ADMIN}/simulate/${path}`,
  body,
});
const post = (path: string, body?: Request['body'], key?: string): Request => ({
  method: 'POST',
  path: `/v1${path}`,
  body,
  key,
});

function cardOf({ model, chance }: Scene): { card: Card | undefined; id: string } {
  const card = chance.chance(1) ? undefined : chance.mostly(model.cards, isLiving);
  return { card, id: card?.id ?? 'card_none' };
}

function purchaseOf({ model, chance }: Scene): { of: Authorization | undefined; id: string } {
  const of = chance.chance(1) ? undefined : chance.mostly(model.authorizations, isPending);
  return { of, id: of?.id ?? 'txn_none' };
}

const create: Maker = scene => {
  const { model, chance, bins, newKey } = scene;
  const bin = chance.pick(bins.slice(0, 3));
  if (bin === undefined) throw new Error('the sandbox has no BINs');
  const asked = {
    amount: Math.max(100, amountOf(chance)),
    limit: chance.chance(60) ? 200_000 : 15_000,
    line: chance.chance(50) ? 3_000 : null,
    categories: chance.chance(15) ? ['5814'] : [],
  };
  const key = chance.chance(30) ? newKey() : undefined;
  const body = {
    bin_id: bin.id,
    amount: usd(asked.amount),
    spending_limit: usd(asked.limit),
    ...(asked.line !== null && { auto_freeze_at: usd(asked.line) }),
    allowed_categories: asked.categories,
  };
  const request = post('/cards', body, key);
  return { op: 'create', request, expected: model.create(bin, asked), ...(key !== undefined && { keyed: { key } }) };
};

const move =
  (op: 'fund' | 'withdraw'): Maker =>
  scene => {
    const { model, chance, newKey } = scene;
    const { card, id } = cardOf(scene);
    const amount = op === 'fund' ? Math.max(100, amountOf(chance)) : edgeOf(chance, card);
    const key = chance.chance(30) ? newKey() : undefined;
    const request = post(`/cards/${id}/${op}`, { amount: usd(amount) }, key);
    return { op, request, expected: model[op](card, amount), ...(key !== undefined && { keyed: { key } }) };
  };

const turn =
  (op: 'freeze' | 'unfreeze' | 'terminate'): Maker =>
  scene => {
    const { model, chance } = scene;
    const found = op === 'unfreeze' ? chance.mostly(model.cards, isFrozen) : cardOf(scene).card;
    return { op, request: post(`/cards/${found?.id ?? 'card_none'}/${op}`), expected: model[op](found) };
  };

function options(chance: Chance, card: Card | undefined): Purchase {
  const mismatch = chance.chance(3) ? (chance.chance(50) ? 'cvv' : 'expiry') : undefined;
  const forced = chance.chance(2) ? chance.pick(['suspected_fraud', 'do_not_honor']) : undefined;
  return { amount: edgeOf(chance, card), mcc: chance.chance(70) ? '5814' : '7011', forced, mismatch };
}

const authorize: Maker = scene => {
  const { card, id } = cardOf(scene);
  const wanted = options(scene.chance, card);
  const { mcc, mismatch, forced } = wanted;
  const body = { card_id: id, amount: usd(wanted.amount), mcc, mismatch, force_decline: forced };
  if (!scene.chance.chance(15)) {
    return {
      op: 'authorize',
      request: simulate('authorizations', body),
      expected: scene.model.authorize(card, wanted),
    };
  }
  const request = simulate('authorizations', { ...body, three_ds: 'challenge' });
  return { op: 'challenge', request, expected: scene.model.challenge(card, wanted, 'by authorize') };
};

const challenge: Maker = scene => {
  const { card, id } = cardOf(scene);
  const amount = amountOf(scene.chance);
  const attached = scene.chance.chance(50) ? 'then' : 'no';
  const body = { card_id: id, amount: usd(amount), ...(attached === 'then' && { then: 'authorize' }) };
  const expected = scene.model.challenge(card, { amount, mcc: '5814' }, attached);
  return { op: 'challenge', request: simulate('challenges', body), expected };
};

const endChallenge =
  (op: 'answer' | 'cancel' | 'run out'): Maker =>
  ({ model, chance }) => {
    const found = chance.mostly(model.challenges, isPending);
    const path = `challenges/${found?.id ?? 'tds_none'}`;
    if (op === 'cancel') return { op, request: simulate(`${path}/cancel`), expected: model.cancel(found) };
    if (op === 'run out') return { op, request: simulate(`${path}/expire`), expected: model.runOut(found) };
    const right = chance.chance(45);
    const body = right ? { answer: 'right' } : chance.chance(50) ? { answer: 'wrong' } : { otp: 'no code' };
    return { op, request: simulate(`${path}/attempts`, body), expected: model.answer(found, right) };
  };

const increment: Maker = scene => {
  const { of, id } = purchaseOf(scene);
  const amount = edgeOf(scene.chance, of?.card);
  const request = simulate(`authorizations/${id}/increment`, { amount: usd(amount) });
  return { op: 'increment', request, expected: scene.model.increment(of, amount) };
};

const settle: Maker = scene => {
  const { of, id } = purchaseOf(scene);
  const amount = maybe(scene.chance, amountOf(scene.chance));
  const final = scene.chance.chance(60);
  const body = { ...(amount !== undefined && { amount: usd(amount) }), ...(!final && { final }) };
  const request = simulate(`authorizations/${id}/settle`, body);
  return { op: final ? 'settle' : 'settle in part', request, expected: scene.model.settle(of, amount, final) };
};

const giveBack =
  (op: 'reverse' | 'refund'): Maker =>
  scene => {
    const { model, chance } = scene;
    const of = op === 'refund' ? chance.mostly(model.authorizations, isPaid) : purchaseOf(scene).of;
    const whole = of === undefined ? 1 : op === 'refund' ? of.settled - of.refunded : of.held;
    const amount = maybe(chance, chance.chance(15) ? whole + 1 : amountOf(chance));
    const body = amount === undefined ? {} : { amount: usd(amount) };
    const request = simulate(`authorizations/${of?.id ?? 'txn_none'}/${op}`, body);
    return { op, request, expected: model[op](of, amount) };
  };

const expire: Maker = scene => {
  const { of, id } = purchaseOf(scene);
  return { op: 'expire', request: simulate(`authorizations/${id}/expire`), expected: scene.model.expire(of) };
};

const unlinked =
  (op: 'forcePost' | 'unlinkedRefund'): Maker =>
  scene => {
    const { card, id } = cardOf(scene);
    const amount = amountOf(scene.chance);
    const path = op === 'forcePost' ? 'force-posts' : 'refunds';
    const request = simulate(path, { card_id: id, amount: usd(amount) });
    return { op, request, expected: scene.model[op](card, amount) };
  };

const deposit: Maker = ({ model, chance }) => {
  const currency = chance.pick(['btc', 'eth', 'sol', 'usdt'] as const) ?? 'btc';
  const amount = 5_000 + amountOf(chance);
  const timed = chance.chance(70);
  const body = { currency, amount: usd(amount), confirmations: timed ? 'timed' : 'manual' };
  return { op: 'deposit', request: simulate('deposits', body), expected: model.deposit(currency, amount, timed) };
};

const endDeposit =
  (op: 'confirm' | 'confirmations' | 'fail'): Maker =>
  ({ model, chance }) => {
    const found = chance.mostly(model.deposits, isPending);
    const path = `deposits/${found?.id ?? 'dep_none'}/${op}`;
    if (op === 'fail') return { op, request: simulate(path), expected: model.fail(found) };
    if (op === 'confirm') return { op, request: simulate(path), expected: model.confirm(found, 1_000) };
    const add = 1 + chance.below(12);
    return { op, request: simulate(path, { add }), expected: model.confirm(found, add) };
  };

const SPANS = [30_000, 120_000, 400_000, 3_600_000, 2 * DAY, 8 * DAY, 25 * DAY] as const;

const advance: Maker = ({ model, chance }) => {
  // Now and then far enough for cards to expire.
  const ms = chance.chance(3) ? 1_200 * DAY : (chance.pick(SPANS) ?? DAY);
  const request: Request = { method: 'POST', path: `${ADMIN}/clock/advance`, body: { by: `${ms / 1000}s` } };
  return { op: 'advance', request, expected: model.advance(ms) };
};

const WEIGHTED: readonly (readonly [number, Maker])[] = [
  [4, create],
  [22, authorize],
  [2, challenge],
  [9, endChallenge('answer')],
  [1, endChallenge('cancel')],
  [1, endChallenge('run out')],
  [5, increment],
  [12, settle],
  [5, giveBack('reverse')],
  [6, giveBack('refund')],
  [2, expire],
  [2, unlinked('forcePost')],
  [2, unlinked('unlinkedRefund')],
  [4, move('fund')],
  [4, move('withdraw')],
  [2, turn('freeze')],
  [6, turn('unfreeze')],
  [2, turn('terminate')],
  [2, deposit],
  [1, endDeposit('confirm')],
  [2, endDeposit('confirmations')],
  [1, endDeposit('fail')],
  [5, advance],
];
const TOTAL = WEIGHTED.reduce((sum, [weight]) => sum + weight, 0);

/** What every history begins with. */
export const firstCard: Maker = scene => create(scene);

/** The next step; the model has taken it already. */
export function nextStep(scene: Scene): Step {
  let at = scene.chance.below(TOTAL);
  for (const [weight, make] of WEIGHTED) {
    at -= weight;
    if (at < 0) return make(scene);
  }
  throw new Error('no step has this weight');
}
