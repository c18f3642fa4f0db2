/** The rows of `assumptions.json` as documents and `contract show` tell them. The only place that loads the file. */
import assumptions from './assumptions.json' with { type: 'json' };
import type { AssumptionId, Section } from './basis.ts';

/** One gap of the interface and how it is filled (docs/design/contract-and-assumptions.md). */
export interface Assumption {
  readonly topic: string;
  readonly point: string;
  /** What the sandbox does and the OpenAPI document describes. */
  readonly taken: string;
  /** The interface's own words, or public services that do the same. */
  readonly because?: string;
  /** What the client accepts besides. */
  readonly also?: string;
  /** High, medium or low: how sure we are. */
  readonly confidence?: string;
  /** Of what is no field, operation or limit: the fact that `contract show` lists; `taken` where it has no words of its own. */
  readonly rule?: {
    readonly section: Section;
    readonly name: string;
    readonly stated?: boolean;
    readonly what?: string;
  };
}

const ROWS = assumptions as Readonly<Record<AssumptionId, Assumption>>;

/** Every id, in the order of the file. */
export const ASSUMPTION_IDS = Object.keys(assumptions) as readonly AssumptionId[];

export function assumption(id: AssumptionId): Assumption {
  return ROWS[id];
}

/** Whether a text, such as one that was typed, names a row. */
export function isAssumptionId(text: string): text is AssumptionId {
  return Object.hasOwn(ROWS, text);
}
