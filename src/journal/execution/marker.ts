/** The metadata key by which a created card is found again when its answer is lost. */

export const MARKER_KEY = 'cardwright';

/** Its value: which operation and row made the card. */
export function markerOf(op: string, row: number): string {
  return `${op}.${row}`;
}
