/** Rows of an operation in words, by their numbers, and the command that shows what came of one. */

import { withoutCardNumbers } from './card-numbers.ts';
import { shellWord } from './shell-quote.ts';

/** Numbers, and stretches of them, that are written one by one. */
const MOST_PARTS = 20;
/** A shorter stretch is written number by number. */
const SHORTEST_STRETCH = 4;

/** `row 3`, `rows 3, 7 and 9`, `rows 3 to 9 and 12`; of many the first ones and how many more there are. */
export function rowsNamed(rows: readonly number[]): string {
  const [first] = rows;
  if (rows.length === 1) return `row ${first}`;
  const stretches = stretchesOf(rows);
  const shown = stretches.slice(0, MOST_PARTS);
  const words = shown.map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`));
  const named = shown.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  if (rows.length > named) words.push(`${rows.length - named} more`);
  const last = words.pop();
  const text = words.length === 0 ? `rows ${last}` : `rows ${words.join(', ')} and ${last}`;
  return hasOnlyRows(text) ? text : `${rows.length} rows from ${first} on`;
}

/** Numbers in the words of a command: `3 7 9..14`. Nothing in them can be taken for a card number, and be hidden. */
export function rowWords(rows: readonly number[]): string {
  const stretches = stretchesOf(rows);
  const text = stretches.map(([from, to]) => (from === to ? String(from) : `${from}..${to}`)).join(' ');
  return hasOnlyRows(text) ? text : stretches.map(([from, to]) => `${from}..${to}`).join(',');
}

const hasOnlyRows = (text: string) => withoutCardNumbers(text) === text;

/** Neighbours together, where there are enough of them; the others alone. */
function stretchesOf(rows: readonly number[]): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  for (const row of rows) {
    const last = found.at(-1);
    if (last !== undefined && row === last[1] + 1) last[1] = row;
    else found.push([row, row]);
  }
  return found.flatMap(([from, to]) => {
    if (to - from + 1 >= SHORTEST_STRETCH) return [[from, to] as const];
    return Array.from({ length: to - from + 1 }, (_, index) => [from + index, from + index] as const);
  });
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
 * means every unknown row, and `not-done` would mean those that were never sent as well. `card` is that of one create.
 */
export function resolveCommand(
  op: string,
  unknown: readonly number[],
  as: 'done' | 'not-done',
  card?: string | undefined,
): string {
  const named = unknown.length <= MOST_PARTS || as === 'not-done' ? ` ${rowWords(unknown)}` : '';
  const made = card === undefined ? '' : ` --card ${shellWord(card)}`;
  return `cardwright ops resolve ${op}${named} --as ${as}${made} --note "why"`;
}

/** What sending again what left no trace can do. `isHonoured`: the service is known to honour the keys, which it may have forgotten by now. */
export function riskOfResend(isHonoured: boolean, keys = 'the key'): string {
  return isHonoured
    ? `a service that is slow, and has forgotten ${keys} by now, can then do it twice`
    : 'a service that is slow and ignores keys can then do it twice';
}

/** How to see whether it happened. Ids are copied into a command only when a shell has nothing to read into them. */
export function lookHint(name: string, input: Readonly<Record<string, unknown>>): string {
  const card = input['card_id'];
  if (typeof card === 'string' && /^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$/.test(card))
    return `cardwright cards get ${card}`;
  if (name.startsWith('cards.')) return 'cardwright cards list';
  return name.startsWith('webhooks.') ? 'cardwright webhooks list' : 'cardwright sandbox status';
}
