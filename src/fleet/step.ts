/** What an apply would do, step by step. */
import type { Cents } from '../core/money.ts';
import type { Difference } from './compare.ts';

/** In the order they are done: money comes back before it is spent, and a card has its money before it is unfrozen. */
export const PHASES = { freeze: 1, withdraw: 2, terminate: 3, create: 4, fund: 5, unfreeze: 6 } as const;
export type Deed = keyof typeof PHASES;

/** Why a step is there; words of the plan file. */
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

/** Body of a create as it is sent; amounts in USD, with the marker. */
export interface CreateBody {
  readonly bin_id: string;
  readonly amount: number;
  readonly label?: string;
  readonly spending_limit?: number;
  readonly allowed_categories?: readonly string[];
  readonly auto_freeze_at?: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Money of a card as it was seen. */
export interface ObservedMoney {
  /** USD. */
  readonly balance: number;
  /** Id of its newest record; empty for none. */
  readonly transaction: string;
}

interface OnCard {
  readonly name: string;
  readonly card: string;
  readonly last4: string;
  readonly why: Why;
}

export type Step =
  | (OnCard & { readonly do: 'freeze' | 'unfreeze'; readonly seen: string })
  | (OnCard & {
      readonly do: 'terminate';
      /** Balance that is to come back, USD. */
      readonly returns: number;
      readonly seen: string;
    })
  | (OnCard & {
      readonly do: 'fund' | 'withdraw';
      /** USD. */
      readonly amount: number;
      /** First key of its chain. */
      readonly key: string;
      readonly seen: ObservedMoney;
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

/** A step with its number and its phase; rows count from 1. */
export type NumberedStep = { readonly row: number; readonly phase: number } & Step;

/** Classes of steps that are planned with their exact number alone. */
export const GUARDED_CLASSES = ['unfreeze', 'recreate', 'terminate', 'removals'] as const;
export type GuardedClass = (typeof GUARDED_CLASSES)[number];

export interface GuardedSteps {
  readonly class: GuardedClass;
  readonly count: number;
  readonly names: readonly string[];
}

/** A name of which an operation's outcome is not known. */
export interface Locked {
  readonly name: string;
  readonly op: string;
}

/** A card of which nothing more is wanted. */
export interface ToRetire {
  readonly card: string;
  readonly name: string;
  readonly last4: string;
  readonly balance: Cents;
}

/** What a top-up is due for, in cents. */
export interface Due {
  readonly name: string;
  readonly floor: Cents;
  readonly cap?: Cents | undefined;
  readonly used: Cents;
}

export interface Planned {
  readonly steps: readonly NumberedStep[];
  readonly differences: readonly Difference[];
  /** Names with a fixed difference and no `replace`. */
  readonly blocked: readonly string[];
  readonly heldBack: readonly GuardedSteps[];
  readonly locked: readonly Locked[];
  readonly toRetire: readonly ToRetire[];
  readonly due: readonly Due[];
  readonly notes: readonly string[];
  /** Cards that are as they are wanted. */
  readonly asWanted: number;
  /** Cards of the fleet that are not terminated, when all is done. */
  readonly cardsAfter: number;
}
