/** Which row of a run was answered with which card: no two rows make one card. */
import type { RowIndex } from './row-index.ts';

/** The other row that was answered with this card before; notes it for `row` where there is none. */
export type AnsweredBefore = (id: string, row: number) => number | undefined;

/** What the journal knows already is read at the first question. */
export function createAnsweredCards(rowIndex: RowIndex): AnsweredBefore {
  let rows: Map<string, number> | undefined;
  return (id, row) => {
    rows ??= new Map(madeCards(rowIndex));
    const first = rows.get(id);
    if (first === undefined) rows.set(id, row);
    return first === row ? undefined : first;
  };
}

function* madeCards(rowIndex: RowIndex): Iterable<[string, number]> {
  for (const { id, row } of rowIndex.restingCards()) yield [id, row];
  for (const { item, state, done } of rowIndex.held()) {
    if (item.operation === 'cards.create' && state === 'done' && done?.id !== undefined) yield [done.id, item.row];
  }
}
