/** A policy as it was read: rules over facts of cards. */
import type { Cents } from '../../core/money.ts';
import type { CardRow } from '../rows.ts';
import type { FactKind, FactSources, FactValue } from './facts.ts';

/** From the worst to the mildest. */
export const SEVERITIES = ['error', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The only changes a policy may ask for: it never funds, unfreezes or terminates. */
export type Remedy = { readonly do: 'freeze' } | { readonly do: 'withdraw'; readonly keep: Cents };

export interface Condition {
  /** Name of the fact: `unused_days`, `metadata.owner`. */
  readonly fact: string;
  readonly kind: FactKind;
  /** The test as it was written, for people: `>= 30`. */
  readonly written: string;
  readonly of: (card: CardRow, known: FactSources) => FactValue;
  /** Undefined while the fact is not known. */
  readonly holds: (value: FactValue) => boolean | undefined;
}

export interface Rule {
  readonly name: string;
  readonly severity: Severity;
  /** Which cards the rule speaks of. */
  readonly chooses: (card: CardRow) => boolean;
  /** All must hold. */
  readonly when: readonly Condition[];
  readonly then: Remedy | undefined;
}

export interface Policy {
  readonly rules: readonly Rule[];
}
