/** The steps of one card that is wanted, and of one that no longer is. */
import { cents, plainAmount, toUsd } from '../core/money.ts';
import { type CardRecords, MARKER_KEY, type ObservedCard } from './account.ts';
import { type Difference, differencesOf } from './compare.ts';
import type { Wish } from './fleet-file.ts';
import { createChain, fundChain } from './keys.ts';
import { LEAST_AT_ONCE } from './layer.ts';
import type { Matched } from './match.ts';
import { markText } from './names.ts';
import type { Candidate, PlanInput } from './plan-input.ts';
import { faultAt, faultyFleet } from './read.ts';
import { stateDigest } from './state-digest.ts';
import type { CreateBody, Due, Step, ToRetire, Why } from './step.ts';
import { topUpOf } from './top-up.ts';

/** Takes the cards one by one. */
export class CardPlanner {
  readonly candidates: Candidate[] = [];
  readonly differences: Difference[] = [];
  readonly blocked = new Set<string>();
  readonly lockedNames = new Set<string>();
  readonly toRetire: ToRetire[] = [];
  readonly due: Due[] = [];
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
      this.#create(wish, { generation: highest + 1, why: 'replaces', instead: card });
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
    const { name, floor, monthlyCap } = wish;
    const records = this.#input.records.get(card.id);
    if (records === undefined || floor === undefined) return;
    const topUp = topUpOf(wish, card.balance, records);
    if (!topUp.due) return;
    if (topUp.amount === undefined) {
      this.notes.push(`${name} is below its floor and is not funded: ${whyNotFunded(wish, card, records)}`);
      return;
    }
    const { amount } = topUp;
    const { id, last4, balance } = card;
    const transaction = records.newest;
    const chain = fundChain(this.#input.scope, { card: id, balance, transaction, amount });
    this.due.push({ name, floor, cap: monthlyCap, used: records.usedThisMonth });
    this.candidates.push({
      step: {
        do: 'fund',
        name,
        card: id,
        last4,
        amount: toUsd(amount),
        key: `${chain}.1`,
        why: 'below_floor',
        seen: { balance: toUsd(balance), transaction },
      },
    });
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
    this.#create(wish, { generation: highest + 1, why: ended === undefined ? 'new' : 'recreated', instead: undefined });
  }

  #create(wish: Wish, { generation, why, instead }: Making): void {
    const { name, amount } = wish;
    const { scope, file, pickBin, account } = this.#input;
    if (amount === undefined) {
      throw faultyFleet(
        [faultAt(wish, 'card', `${name} needs an amount: its card is gone, and a new one would be made`)],
        file,
      );
    }
    const least = cents(Math.max(amount, wish.limit ?? 0));
    const bin = wish.bin.by === 'id' ? wish.bin.id : pickBin(wish.bin, { name, least });
    if (bin === undefined)
      throw faultyFleet(
        [faultAt(wish, 'bin', `no BIN takes ${plainAmount(least)} a month and has these features`)],
        file,
      );
    const most = account.bins.find(({ id }) => id === bin)?.maxMonthly;
    if (wish.limit !== undefined && most !== undefined && wish.limit > most) {
      throw faultyFleet(
        [faultAt(wish, 'limit', `the limit is above the ${plainAmount(most)} a month of ${bin}`)],
        file,
      );
    }
    const step: Step = {
      do: 'create',
      name,
      generation,
      key: `${createChain(scope, name, generation)}.1`,
      body: bodyOf(wish, { bin, marker: markText({ fleet: scope.fleet, name, generation }) }),
      why,
      ...(instead !== undefined && { instead: instead.id }),
    };
    this.candidates.push({
      step,
      ...(why === 'recreated' && { class: 'recreate' }),
      ...(why === 'replaces' && this.#isFrozenFor(instead) && { follows: true }),
      ...(why === 'replaces' && !this.#isFrozenFor(instead) && { removes: true }),
    });
  }

  /** Whether the freeze of the card before counts for the removal guard already. */
  #isFrozenFor(card: ObservedCard | undefined): boolean {
    return this.candidates.some(({ step }) => step.do === 'freeze' && step.card === card?.id);
  }

  #freeze(name: string, card: ObservedCard, why: Why, removes: boolean): void {
    const { id, last4 } = card;
    this.candidates.push({ step: { do: 'freeze', name, card: id, last4, why, seen: stateDigest(card) }, removes });
  }

  #retire(name: string, { id, last4, balance }: ObservedCard): void {
    this.toRetire.push({ card: id, name, last4, balance });
  }
}

interface Making {
  readonly generation: number;
  readonly why: Why;
  readonly instead: ObservedCard | undefined;
}

/** The request in the words of the interface; money as USD. */
function bodyOf(wish: Wish, { bin, marker }: { readonly bin: string; readonly marker: string }): CreateBody {
  const { amount, label, limit, categories, autoFreezeAt, metadata } = wish;
  const sorted = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    bin_id: bin,
    amount: amount === undefined ? 0 : toUsd(amount),
    ...(label !== undefined && { label }),
    ...(limit !== undefined && { spending_limit: toUsd(limit) }),
    ...(categories !== undefined && { allowed_categories: [...categories] }),
    ...(autoFreezeAt !== undefined && autoFreezeAt !== null && { auto_freeze_at: toUsd(autoFreezeAt) }),
    metadata: { ...Object.fromEntries(sorted), [MARKER_KEY]: marker },
  };
}

/** Why a top-up that is due has no amount: the cap of the month, or less missing than can be sent. */
function whyNotFunded({ monthlyCap }: Wish, { balance }: ObservedCard, { usedThisMonth }: CardRecords): string {
  const least = plainAmount(LEAST_AT_ONCE);
  const left = monthlyCap === undefined ? LEAST_AT_ONCE : monthlyCap - usedThisMonth - balance;
  if (monthlyCap === undefined || left >= LEAST_AT_ONCE) return `less than ${least} is missing`;
  const [used, held, cap] = [usedThisMonth, balance, monthlyCap].map(plainAmount);
  return `${used} spent this month and ${held} on the card leave less than ${least} of its ${cap}`;
}
