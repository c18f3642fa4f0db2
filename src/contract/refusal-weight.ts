/**
 * What a refused write proves by itself: the one table of it. A no that
 * cannot be true of this operation, or is not the service's own, may follow the deed.
 */
import type { Operation } from './operation.ts';
import { BEFORE_EXECUTION, REFUSALS, type Refusal, type RefusalName } from './refusals.ts';

/**
 * `definite`: nothing was executed. `plausible`: nothing was, unless its effect shows. `none`: it proves nothing, and neither
 * does an effect that does not show yet.
 */
export type RefusalWeight = 'definite' | 'plausible' | 'none';

export interface RefusalFacts {
  readonly row: Operation;
  readonly status: number;
  readonly refusal?: RefusalName | undefined;
  /** JSON by its content type and its content, with an identifier (interface 2.7). */
  readonly inServiceForm: boolean;
  /** It says that the key was used with another body. */
  readonly saysKeyReused: boolean;
  /** The key is the caller's own, who may have used it before. */
  readonly keyOfCaller: boolean;
}

export interface RefusalRule {
  readonly when: string;
  readonly weight: RefusalWeight;
  /** A clause for the error: why it is not believed as it stands. */
  readonly because?: string;
  readonly holds: (facts: RefusalFacts) => boolean;
}

/** The first that holds decides; the last one always does. */
export const REFUSAL_RULES: readonly RefusalRule[] = [
  {
    when: 'it is not in the form of an error of the service: no JSON, or no identifier',
    weight: 'none',
    because: 'that is no error of the service, so something on the way may have said it',
    holds: ({ inServiceForm }) => !inServiceForm,
  },
  {
    when: 'it says that the key was used with another body, and the caller has chosen the key',
    weight: 'plausible',
    holds: ({ saysKeyReused, keyOfCaller }) => saysKeyReused && keyOfCaller,
  },
  {
    when: 'it says that the key was used with another body, and the key was made for this request',
    weight: 'none',
    because: 'no other request has had this key',
    holds: ({ saysKeyReused }) => saysKeyReused,
  },
  {
    when: 'it says that the card is in the wanted state already',
    weight: 'none',
    because: 'reading the card does not show that state',
    holds: ({ row, refusal }) => saysWantedState(row, refusal),
  },
  {
    when: '`not_found` of an operation whose row does not name it',
    weight: 'plausible',
    holds: ({ row, refusal }) => refusal === 'not_found' && !belongsTo(row, refusal),
  },
  {
    when: 'a word of the contract that this operation cannot give',
    weight: 'none',
    because: 'that is no answer to this operation',
    holds: ({ row, refusal }) => refusal !== undefined && !belongsTo(row, refusal),
  },
  {
    when: 'a word of the contract for this operation, or for all',
    weight: 'definite',
    holds: ({ refusal }) => refusal !== undefined,
  },
  {
    when: '401 or 403 in a word that the contract does not know',
    weight: 'definite',
    holds: ({ status }) => status === 401 || status === 403,
  },
  {
    when: 'of `api`, where the contract knows no such operation: a status that is given before anything is executed',
    weight: 'definite',
    holds: ({ row, status }) => row.raw === true && BEFORE_EXECUTION.includes(status),
  },
  {
    when: 'any other word that the contract does not know',
    weight: 'plausible',
    holds: () => true,
  },
];

/** The rule for a refused write; its weight holds for a first sending alone. */
export function ruleFor(facts: RefusalFacts): RefusalRule {
  const rule = REFUSAL_RULES.find(({ holds }) => holds(facts));
  if (rule === undefined) throw new RangeError('no rule holds');
  return rule;
}

function saysWantedState({ leadsTo }: Operation, refusal: RefusalName | undefined): boolean {
  const { saysState }: Partial<Refusal> = refusal === undefined ? {} : REFUSALS[refusal];
  return saysState !== undefined && saysState === leadsTo?.value;
}

function belongsTo({ raw, fails = [] }: Operation, refusal: RefusalName): boolean {
  const { everywhere }: Refusal = REFUSALS[refusal];
  // An operation that nobody knows may give any of them.
  if (everywhere === true || raw === true || fails.includes(refusal)) return true;
  // Some services use one word for an empty wallet and an empty card.
  return refusal === 'insufficient_funds' && fails.includes('insufficient_card_funds');
}
