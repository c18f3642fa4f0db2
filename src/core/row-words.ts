/** Rows of an operation in words, by their numbers. */

/** Numbers that are written one by one. */
const MOST_NUMBERS = 20;

/** `row 3`, `rows 3, 7 and 9`; of many the first ones and how many more there are. */
export function rowsNamed(rows: readonly number[]): string {
  const [first] = rows;
  if (rows.length === 1) return `row ${first}`;
  const shown = rows.slice(0, MOST_NUMBERS);
  const last = rows.length > shown.length ? `${rows.length - shown.length} more` : shown.pop();
  return `rows ${shown.join(', ')} and ${last}`;
}

/** With a capital letter, at the beginning of a sentence. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `1 row`, `12 rows`. */
export function rowCount(count: number): string {
  return `${count} row${count === 1 ? '' : 's'}`;
}

/**
 * The command that records the outcome of unknown rows: it names them while they are few. Without numbers `--as done`
 * means every unknown row, and `not-done` would mean those that were never sent as well.
 */
export function resolveCommand(op: string, unknown: readonly number[], as: 'done' | 'not-done'): string {
  const named = unknown.length <= MOST_NUMBERS || as === 'not-done' ? ` ${unknown.join(' ')}` : '';
  return `cardwright ops resolve ${op}${named} --as ${as} --note "why"`;
}
