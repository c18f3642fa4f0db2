/** The steps of a plan: what they are, their keys, how much a top-up is, and what they are made from. */

import { createHash } from 'node:crypto';
import type { CREATE_CARD } from '../contract/card.ts';
import type { ValueOf } from '../contract/field.ts';
import { type Cents, cents, toUsd } from '../core/money.ts';
import { base32 } from '../core/names.ts';
import type { Account, CardRecords, Match, ObservedCard } from './account.ts';
import { type BinWish, type Fleet, LEAST_AT_ONCE, MOST_AT_ONCE, type Wish } from './fleet-file.ts';

/** In the order they are done: money comes back before it is spent, and a card has its money before it is unfrozen. */
export const PHASES = { freeze: 1, withdraw: 2, terminate: 3, create: 4, fund: 5, unfreeze: 6 } as const;
export type Deed = keyof typeof PHASES;

// As they stand in a plan file: amounts in USD, ids as text.

/** Words of the plan file. */
export type Why =
  | 'new'
  | 'recreated'
  | 'replaces'
  | 'replaced'
  | 'removed'
  | 'retired'
  | 'state'
  | 'below_floor'
  | 'drain'
  | 'quarantine_over';

/** Body of a create as it is sent, with the marker. */
export type CreateBody = ValueOf<typeof CREATE_CARD> & { readonly metadata: Readonly<Record<string, string>> };

type OnCard = Readonly<Record<'name' | 'card' | 'last4', string>> & { readonly why: Why };

export type Step =
  | (OnCard & { readonly do: 'freeze' | 'unfreeze'; readonly seen: string })
  // `returns`: the balance that is to come back.
  | (OnCard & { readonly do: 'terminate'; readonly returns: number; readonly seen: string })
  | (OnCard & {
      readonly do: 'fund' | 'withdraw';
      readonly amount: number;
      /** First key of its chain. */
      readonly key: string;
      /** Money of the card as it was seen; `transaction` is the id of its newest record, empty for none. */
      readonly seen: { readonly balance: number; readonly transaction: string };
    })
  | {
      readonly do: 'create';
      readonly name: string;
      readonly generation: number;
      readonly key: string;
      readonly body: CreateBody;
      readonly why: Why;
      /** Id of the card whose place it takes. */
      readonly instead?: string;
    };

/** With its number and its phase; rows count from 1. */
export type NumberedStep = Step & { readonly row: number; readonly phase: number };

/** Classes of steps that are planned with their exact number alone. */
export const GUARDED_CLASSES = ['unfreeze', 'recreate', 'terminate', 'removals'] as const;
export type GuardedClass = (typeof GUARDED_CLASSES)[number];

/** A name of which an operation's outcome is not known. */
export interface Locked {
  readonly name: string;
  readonly op: string;
}

// Idempotency keys that follow from the intention

/** Where a fleet lives: the same key means another card elsewhere. */
export interface Scope {
  /** Base address, or `embedded`. */
  readonly origin: string;
  readonly mode: string;
  readonly fleet: string;
}

function digestOf(parts: readonly (string | number)[]): string {
  return base32(createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 17));
}

/** The chain of keys of one card of a fleet; `.1`, `.2` … follow. */
export function createChain({ origin, mode, fleet }: Scope, name: string, generation: number): string {
  return `fc_${digestOf(['create', origin, mode, fleet, name, generation])}`;
}

/** Money that a step moves, because of what was seen of a card: its balance, and the id of its newest record, empty for none. */
interface MoneySeen {
  readonly card: string;
  readonly balance: Cents;
  readonly transaction: string;
  readonly amount: Cents;
}

/** The amount of a top-up or a withdrawal, the first key of its chain, and what was seen. */
export function moneyParts(
  deed: 'fund' | 'withdraw',
  { origin, mode }: Scope,
  { card, balance, transaction, amount }: MoneySeen,
) {
  const chain = `f${deed[0]}_${digestOf([deed, origin, mode, card, balance, transaction, amount])}`;
  return { amount: toUsd(amount), key: `${chain}.1`, seen: { balance: toUsd(balance), transaction } };
}

// What of a card must be as it was when its step was planned.

/** Digest of what must not have changed of a card since it was planned; its balance may. */
export function stateDigest(card: ObservedCard): string {
  const metadata = Object.entries(card.metadata ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const { id, status, bin, limit, label, categories, autoFreezeAt } = card;
  const seen = [id, status, bin ?? null, limit ?? null, label, categories ?? null, autoFreezeAt ?? null, metadata];
  return `sha256:${createHash('sha256').update(JSON.stringify(seen)).digest('hex')}`;
}

// How much a card is topped up with

/** Whether the balance is below the floor of the file: only then are its records read. */
export function isBelowFloor({ floor, top_up_to: most }: Wish, balance: Cents): boolean {
  return floor !== undefined && most !== undefined && balance < floor;
}

/**
 * Brings the balance to `top_up_to`, within one request and the cap of the month; never beyond either. Undefined where the card
 * is not below its floor, 0 where less is left than can be sent.
 */
export function topUpOf(
  wish: Wish,
  balance: Cents,
  { usedThisMonth }: Pick<CardRecords, 'usedThisMonth'>,
): Cents | undefined {
  const { top_up_to: most, monthly_cap: cap } = wish;
  if (!isBelowFloor(wish, balance) || most === undefined) return undefined;
  const room = cap === undefined ? MOST_AT_ONCE : cap - usedThisMonth - balance;
  const amount = Math.min(most - balance, MOST_AT_ONCE, room);
  return cents(amount < LEAST_AT_ONCE ? 0 : amount);
}

// What a plan is made from, and what its parts hand over before it is decided which of it may be done.

/** Exact numbers that a person has allowed. */
export type Allowed = Readonly<Partial<Record<GuardedClass, number>>>;

export interface PlanInput {
  readonly fleet: Fleet;
  /** What the file was called, for faults that only the account can tell. */
  readonly file: string;
  readonly account: Account;
  /** Which card is which, where it was found out already. */
  readonly match?: Match | undefined;
  /** Records of the cards that `cardsToRead` names. */
  readonly records: ReadonlyMap<string, CardRecords>;
  readonly scope: Scope;
  readonly allowed: Allowed;
  readonly locked: readonly Locked[];
  /** The BIN for a new card that takes so much a month; undefined where none fits. */
  pickBin(
    bin: Exclude<BinWish, { by: 'id' }>,
    wanted: { readonly name: string; readonly least: Cents },
  ): string | undefined;
}

/** A wanted step of a class that is held back, or of the removal guard; dropped unless its number was allowed. */
export interface Candidate {
  readonly step: Step;
  readonly class?: Exclude<GuardedClass, 'removals'> | undefined;
  /** Counts for the removal guard. */
  readonly removes?: boolean;
  /** Goes with the removal guard without counting: the card that takes the place of a frozen one. */
  readonly follows?: boolean;
}
