/** The metadata key by which a created card is found again when its answer is lost. */

export const MARKER_KEY = 'cardwright';

/** What a card of a row is marked with: a marker of its own, or the op's. */
export function rowMarker(
  op: string,
  { row, marker }: { readonly row: number; readonly marker?: string | undefined },
): string {
  return marker ?? markerOf(op, row);
}

/** What the markers of the rows of an op begin with. */
export function markerPrefixOf({
  op,
  marker_prefix: prefix,
}: {
  readonly op: string;
  readonly marker_prefix?: string | undefined;
}): string {
  return prefix ?? `${op}.`;
}

/** The op and the row that a marker names; undefined for one that names none, as those of a fleet. */
export function opOfMarker(marker: string): { readonly op: string; readonly row: string } | undefined {
  const [, op, row] = /^(op_[0-9a-z]{26})\.(\d+)$/.exec(marker) ?? [];
  return op === undefined || row === undefined ? undefined : { op, row };
}

/** Its value: which operation and row made the card. */
export function markerOf(op: string, row: number): string {
  return `${op}.${row}`;
}
