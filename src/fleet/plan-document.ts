/** A plan as a file: an assertion of what an apply will send, and no authority to send it. */
import { createHash } from 'node:crypto';
import { type Cents, cents, sumCents, toCents, toUsd } from '../core/money.ts';
import type { Account } from './account.ts';
import type { Difference } from './compare.ts';
import type { Fleet } from './fleet-file.ts';
import type { Scope } from './keys.ts';
import type { Allowed } from './plan-input.ts';
import { type Deed, type GuardedSteps, type Locked, type NumberedStep, PHASES, type Planned } from './step.ts';

/** What a plan holds for: another account, service or file makes it void. */
export interface Bound {
  readonly origin: string;
  readonly mode: string;
  /** Digest of the contract's overrides. */
  readonly contract: string;
  /** Digest of the bytes of the file. */
  readonly file: string;
  /** The oldest card ids, three at most. */
  readonly witness: readonly string[];
  /** Of cardwright. */
  readonly version: string;
}

/** Counts of each deed, and USD. */
export type Totals = Readonly<Record<Deed, number>> & {
  readonly spend: number;
  readonly returns: number;
  readonly wallet: number;
  readonly wallet_after: number;
};

/** The JSON of a plan, in the order it is written. */
export interface PlanDocument {
  readonly plan: 1;
  /** `plan_` and a digest of everything else. */
  readonly id: string;
  readonly fleet: string;
  /** ISO 8601 UTC, by the clock of the service. */
  readonly created_at: string;
  readonly expires_at: string;
  readonly bound: Bound;
  readonly caps: { readonly per_apply: number; readonly cards: number; readonly wallet_reserve: number };
  readonly totals: Totals;
  readonly allowed: Allowed;
  readonly steps: readonly NumberedStep[];
  readonly differences: readonly Difference[];
  readonly blocked: readonly string[];
  readonly held_back: readonly GuardedSteps[];
  readonly unknown: readonly Locked[];
  readonly to_retire: readonly { readonly card: string; readonly name: string; readonly balance: number }[];
  readonly notes: readonly string[];
  readonly cards_after: number;
  readonly as_wanted: number;
  readonly strangers: number;
}

export interface Circumstances {
  readonly fleet: Fleet;
  readonly account: Account;
  readonly scope: Scope;
  readonly allowed: Allowed;
  /** The text of the file. */
  readonly content: string;
  /** The contract's overrides, as they are. */
  readonly overrides: unknown;
  readonly version: string;
  /** How long it may be applied, ms. */
  readonly lifeMs: number;
}

/** The same for the same plan at the same time of the service. */
export function planDocument(planned: Planned, around: Circumstances): PlanDocument {
  const { fleet, account, scope, allowed, content, overrides, version, lifeMs } = around;
  const { caps } = fleet;
  const created = wholeSeconds(account.now);
  return withId({
    plan: 1,
    id: '',
    fleet: fleet.name,
    created_at: isoOf(created),
    expires_at: isoOf(created + lifeMs),
    bound: {
      origin: scope.origin,
      mode: scope.mode,
      contract: digestOf(JSON.stringify(overrides)),
      file: digestOf(content),
      witness: account.witness,
      version,
    },
    caps: { per_apply: toUsd(caps.perApply), cards: caps.cards, wallet_reserve: toUsd(caps.walletReserve) },
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
export function planIdOf({ id: _, ...rest }: PlanDocument): string {
  return `plan_${createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, ID_DIGITS)}`;
}

export function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** Whether anything is to be done or decided. */
export function differs({ steps, blocked, held_back: heldBack }: PlanDocument): boolean {
  return steps.length + blocked.length + heldBack.length > 0;
}

/** Cents that the steps take from the wallet. */
export function spendingOfSteps(steps: readonly NumberedStep[]): Cents {
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
  const counts = Object.fromEntries((Object.keys(PHASES) as Deed[]).map(deed => [deed, count(deed)]));
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
