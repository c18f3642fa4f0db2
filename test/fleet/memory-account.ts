/** A card account in memory that steps of a plan are carried out at: for properties and models, without HTTP. */

import { CliError } from '../../src/core/errors.ts';
import { cents, toCents, toUsd } from '../../src/core/money.ts';
import { type Account, AccountCards, type CardRecords, type ListedCard } from '../../src/fleet/account.ts';
import type { Fleet } from '../../src/fleet/fleet-file.ts';
import { cardsToRead, planFleet } from '../../src/fleet/plan.ts';
import type { Planned } from '../../src/fleet/plan-file.ts';
import { readFleet } from '../../src/fleet/read.ts';
import type { Allowed, NumberedStep, PlanInput } from '../../src/fleet/step.ts';

export const NOW = Date.parse('2026-11-23T12:00:00Z');
export const ORIGIN = 'https://api.example/v1';

export interface MemoryCard {
  readonly id: string;
  readonly bin: string;
  status: string;
  /** Cents. */
  balance: number;
  readonly limit: number;
  readonly label: string;
  readonly categories: readonly string[];
  readonly autoFreezeAt: number | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly made: number;
  /** Ids of its records, oldest first. */
  records: string[];
  used: number;
  holdsOpen: boolean;
  lastUse: number | undefined;
}

export type Answer = 'done' | 'insufficient_funds' | 'reused' | 'refused';

interface Kept {
  readonly body: string;
  readonly answer: Answer;
}

const fleets = new Map<string, Fleet>();

/** The fleet of a text; texts that come again are read once. */
export function fleetOf(text: string): Fleet {
  const known = fleets.get(text);
  if (known !== undefined) return known;
  const fleet = readFleet(text, { file: 'cards.fleet.yaml' });
  fleets.set(text, fleet);
  return fleet;
}

export class MemoryAccount {
  readonly cards: MemoryCard[] = [];
  wallet: number;
  readonly #keys = new Map<string, Kept>();
  readonly #honoursKeys: boolean;
  #count = 0;

  constructor({ wallet, honoursKeys }: { readonly wallet: number; readonly honoursKeys: boolean }) {
    this.wallet = wallet;
    this.#honoursKeys = honoursKeys;
  }

  /** A card that was made by somebody else, or before. */
  make(card: Partial<MemoryCard> = {}): MemoryCard {
    this.#count += 1;
    const made: MemoryCard = {
      id: `card_${this.#count}`,
      bin: 'bin_1',
      status: 'active',
      balance: 0,
      limit: 200_000,
      label: '',
      categories: [],
      autoFreezeAt: null,
      metadata: {},
      made: this.#count,
      records: [],
      used: 0,
      holdsOpen: false,
      lastUse: undefined,
      ...card,
    };
    this.cards.push(made);
    return made;
  }

  /** A purchase that is settled at once. */
  spend(card: MemoryCard, amount: number): void {
    this.#count += 1;
    card.balance -= amount;
    card.used += amount;
    card.records.push(`txn_${this.#count}`);
    card.lastUse = NOW;
    if (card.autoFreezeAt !== null && card.balance < card.autoFreezeAt && card.status === 'active')
      card.status = 'frozen';
  }

  /** Cents in the wallet, on cards and spent: always the same. */
  total(): number {
    return this.cards.reduce((sum, { balance, used }) => sum + balance + used, this.wallet);
  }

  /** Carries a step out as the service would. */
  send(step: NumberedStep, key: string): Answer {
    const body = JSON.stringify('body' in step ? step.body : step);
    const kept = this.#honoursKeys ? this.#keys.get(key) : undefined;
    if (kept !== undefined) return kept.body === body ? kept.answer : 'reused';
    const answer = this.#carryOut(step);
    if (this.#honoursKeys) this.#keys.set(key, { body, answer });
    return answer;
  }

  /** A key that nobody has used. */
  newKey(): string {
    this.#count += 1;
    return `key ${this.#count}`;
  }

  card(id: string): MemoryCard | undefined {
    return this.cards.find(card => card.id === id);
  }

  #carryOut(step: NumberedStep): Answer {
    if (step.do === 'create') return this.#create(step);
    const card = this.card(step.card);
    if (card === undefined || card.status === 'terminated') return 'refused';
    switch (step.do) {
      case 'freeze':
        card.status = 'frozen';
        return 'done';
      case 'unfreeze':
        card.status = 'active';
        return 'done';
      case 'terminate':
        card.status = 'terminated';
        this.wallet += card.balance;
        card.balance = 0;
        return 'done';
      default: {
        const amount = toCents(step.amount) * (step.do === 'fund' ? 1 : -1);
        if (amount > this.wallet) return 'insufficient_funds';
        if (card.balance + amount < 0) return 'refused';
        card.balance += amount;
        this.wallet -= amount;
        return 'done';
      }
    }
  }

  #create({ body }: Extract<NumberedStep, { do: 'create' }>): Answer {
    const amount = toCents(body.amount);
    if (amount > this.wallet) return 'insufficient_funds';
    this.wallet -= amount;
    this.make({
      bin: body.bin_id,
      balance: amount,
      limit: body.spending_limit === undefined ? 200_000 : toCents(body.spending_limit),
      label: body.label ?? '',
      categories: body.allowed_categories ?? [],
      autoFreezeAt: body.auto_freeze_at === undefined ? null : toCents(body.auto_freeze_at),
      metadata: body.metadata,
    });
    return 'done';
  }

  listed(): readonly ListedCard[] {
    return this.cards.map(card => ({
      id: card.id,
      bin_id: card.bin,
      last4: card.id.slice(-4).padStart(4, '0'),
      status: card.status,
      balance: toUsd(cents(card.balance)),
      spending_limit: toUsd(cents(card.limit)),
      label: card.label,
      allowed_categories: card.categories,
      auto_freeze_at: card.autoFreezeAt === null ? null : toUsd(cents(card.autoFreezeAt)),
      metadata: card.metadata,
      created_at: new Date(NOW - 1_000_000 + card.made).toISOString(),
    }));
  }

  observe(fleet: Fleet, order: (cards: readonly ListedCard[]) => readonly ListedCard[] = cards => cards): Account {
    const cards = new AccountCards(fleet);
    for (const card of order(this.listed())) cards.add(card);
    const bins = [
      { id: 'bin_1', maxMonthly: cents(500_000), maxTransaction: cents(100_000), features: new Set(['3ds']) },
      { id: 'bin_2', maxMonthly: cents(900_000), maxTransaction: cents(500_000), features: new Set<string>() },
    ];
    return cards.account({ bins, wallet: cents(this.wallet), now: NOW });
  }

  records(ids: readonly string[]): ReadonlyMap<string, CardRecords> {
    const found = ids.flatMap(id => {
      const card = this.card(id);
      if (card === undefined) return [];
      const { records, used, holdsOpen, lastUse } = card;
      return [[id, { newest: records.at(-1) ?? '', usedThisMonth: cents(used), holdsOpen, lastUse }] as const];
    });
    return new Map(found);
  }
}

/** What a plan of the account is made from. */
export function inputOf(account: MemoryAccount, text: string, allowed: Allowed = {}): PlanInput {
  const fleet = fleetOf(text);
  const observed = account.observe(fleet);
  return {
    fleet,
    file: 'cards.fleet.yaml',
    account: observed,
    records: account.records(cardsToRead(fleet, observed)),
    scope: { origin: ORIGIN, mode: 'test', fleet: fleet.name },
    allowed,
    locked: [],
    pickBin: () => 'bin_1',
  };
}

/** A plan of which everything that was held back is allowed, with its exact numbers. */
export function wholePlan(account: MemoryAccount, text: string): Planned {
  let allowed: Record<string, number> = {};
  for (let tries = 0; tries < 8; tries += 1) {
    try {
      const plan = planFleet(inputOf(account, text, allowed));
      if (plan.held_back.length === 0) return plan;
      for (const { class: name, count } of plan.held_back) allowed[name] = count;
    } catch (thrown) {
      if (!(thrown instanceof CliError) || thrown.facts.reason !== 'other_number') throw thrown;
      // What was allowed first changes how many are removed in all.
      const [, name = '', count = ''] =
        /the plan has (\d+).*--allow ([a-z]+)=/s.exec(`${thrown.message} ${thrown.facts.notes?.join(' ')}`) ?? [];
      allowed = { ...allowed, [count]: Number(name) };
    }
  }
  throw new Error('the numbers that are held back do not settle');
}

/** Every step, in the order of the plan, each answered. */
export function carryOut(account: MemoryAccount, steps: readonly NumberedStep[]): void {
  for (const step of steps) {
    const answer = account.send(step, 'key' in step ? step.key : account.newKey());
    if (answer !== 'done') throw new Error(`${step.name}: ${step.do} was answered ${answer}`);
  }
}
