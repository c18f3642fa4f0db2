/** What a plan is made from, and what its parts hand over before it is decided which of it may be done. */
import type { Cents } from '../core/money.ts';
import type { Account, CardRecords } from './account.ts';
import type { BinWish, Fleet } from './fleet-file.ts';
import type { Scope } from './keys.ts';
import type { Match } from './match.ts';
import type { GuardedClass, Locked, Step } from './step.ts';

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
