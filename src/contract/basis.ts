/** Where a fact of the service comes from: a section of the interface, or a numbered assumption of ours. */
import type assumptions from './assumptions.json';

/** `A-01` … of `assumptions.json`; an unknown number does not compile. */
export type AssumptionId = keyof typeof assumptions;

/** A section of the interface document, `1` to `9`, or one with a point: `4.1`. */
export type Section = `${number}` | `${number}.${number}`;

/** Empty for what is no fact of the service but a choice of ours. */
export interface Basis {
  /** Section that states it. */
  readonly stated?: Section;
  /** Assumption that fills what the interface does not show. */
  readonly assumed?: AssumptionId;
}

/** A fact the interface states in `section`; `id` is the row of `assumptions.json` for what of it is assumed all the same. */
export function stated(section: Section, id?: AssumptionId): Basis {
  return { stated: section, ...(id !== undefined && { assumed: id }) };
}

/** A fact the interface does not show. `id` is a row of `assumptions.json`. */
export function assumed(id: AssumptionId): Basis {
  return { assumed: id };
}

/** `§4.1`, `A-08` or `§4, A-04`: how a person is told where something comes from. */
export function basisText(basis: Basis): string {
  return [basis.stated && `§${basis.stated}`, basis.assumed].filter(Boolean).join(', ');
}
