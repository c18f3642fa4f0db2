/** Names of fleets and cards, and the marker by which a card is known to be one of a fleet. */

export const LONGEST_FLEET = 24;
export const LONGEST_NAME = 40;
export const NAME_PATTERN = '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$';
const NAME = new RegExp(NAME_PATTERN);

/** Whether a text may name a fleet or a card. */
export function isName(text: string, longest: number): boolean {
  return text.length <= longest && NAME.test(text);
}

/** Which card of which fleet a card was made as. */
export interface Mark {
  readonly fleet: string;
  readonly name: string;
  /** From 1; one more for each card that took the place of the one before. */
  readonly generation: number;
}

/** Value of the metadata key that the journal marks cards with: `fleet/ads/search#1`. */
export function markText({ fleet, name, generation }: Mark): string {
  return `fleet/${fleet}/${name}#${generation}`;
}

/** What every marker of a fleet begins with. */
export function markPrefix(fleet: string): string {
  return `fleet/${fleet}/`;
}

const MARK = /^fleet\/([a-z0-9-]{1,24})\/([a-z0-9-]{1,40})#([1-9][0-9]{0,8})$/;

/** Undefined for any other text, such as the marker of an operation. */
export function markOf(text: string | undefined): Mark | undefined {
  const [, fleet, name, generation] = (text === undefined ? null : MARK.exec(text)) ?? [];
  if (fleet === undefined || name === undefined) return undefined;
  return { fleet, name, generation: Number(generation) };
}
