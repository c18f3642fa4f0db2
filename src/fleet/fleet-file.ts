/** What a fleet file says, once it was read and its cards are written out one by one. */
import type { Cents } from '../core/money.ts';
import type { YamlPosition } from '../terminal/yaml-tree.ts';

/** Features a card's BIN must have; `BIN_NEEDS` of the contract's BIN. */
export const BIN_NEEDS = ['apple_pay', 'google_pay', '3ds'] as const;
export type BinNeed = (typeof BIN_NEEDS)[number];

/** `auto`: picked when the card is planned, and never compared. */
export type BinWish =
  | { readonly by: 'auto' }
  | { readonly by: 'id'; readonly id: string }
  | {
      readonly by: 'criteria';
      readonly needs: readonly BinNeed[];
      readonly purpose?: string | undefined;
      readonly minTransaction?: Cents | undefined;
    };

export const CARD_STATES = ['active', 'frozen'] as const;
export type CardState = (typeof CARD_STATES)[number];

/** A card that a new one takes the place of. */
export interface Replaced {
  readonly card: string;
  /** The old one stays active until it is retired. */
  readonly overlap: boolean;
}

/** One card that is wanted. What is undefined is neither sent nor compared. */
export interface Wish {
  /** `event-1`; the name in its marker. */
  readonly name: string;
  /** Of its key in the file. */
  readonly place: YamlPosition;
  /** Where each of its fields stands: in the card, its template or the defaults. */
  readonly places: ReadonlyMap<string, YamlPosition>;
  /** Id of the card, for cards that were made elsewhere. */
  readonly pin?: string | undefined;
  readonly replaced: readonly Replaced[];
  /** Its entry has `count` or `names`. */
  readonly isOneOfSeveral: boolean;
  /** What a new card holds; undefined for an adopted card whose file does not say. */
  readonly amount?: Cents | undefined;
  readonly bin: BinWish;
  readonly label?: string | undefined;
  readonly limit?: Cents | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly autoFreezeAt?: Cents | null | undefined;
  /** With owner and team, without the marker. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly state: CardState;
  readonly floor?: Cents | undefined;
  readonly topUpTo?: Cents | undefined;
  readonly monthlyCap?: Cents | undefined;
}

/** A card that is frozen at once and terminated when its quarantine is over. */
export interface Retired {
  readonly card: string;
  readonly place: YamlPosition;
  readonly sincePlace: YamlPosition;
  /** Day of UTC, `2026-11-22`. */
  readonly since: string;
  readonly reason?: string | undefined;
  /** Its balance goes back to the wallet before the quarantine is over. */
  readonly drain: boolean;
}

export interface Caps {
  /** Most that one apply takes from the wallet. */
  readonly perApply: Cents;
  /** Most cards of the fleet that are not terminated. */
  readonly cards: number;
  /** Stays in the wallet. */
  readonly walletReserve: Cents;
}

export interface Fleet {
  readonly name: string;
  readonly caps: Caps;
  readonly wishes: readonly Wish[];
  /** Keys of `cards`; an entry with `count` or `names` is several cards. */
  readonly entries: number;
  /** Old names and the name each card goes by now, chains followed. */
  readonly moved: ReadonlyMap<string, string>;
  readonly retired: readonly Retired[];
  readonly quarantineDays: number;
  /** Fields that the defaults say. */
  readonly defaultFields: ReadonlySet<string>;
}
