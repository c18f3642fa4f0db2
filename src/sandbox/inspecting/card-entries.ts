/** Entries of the ledger that touch a card: by the index of cards where there is one, else by looking through all of them. */
import type { StoreMoment } from '../service/service.ts';
import { type EntryOfCard, entriesOfCard, MOST_OF_A_KIND } from '../store/card-life.ts';
import { entriesById } from '../store/card-places.ts';

/** The newest of them, oldest first; a row a posting. */
export async function cardEntries(moment: StoreMoment, card: string): Promise<readonly EntryOfCard[]> {
  const { sql, account, parts } = moment;
  const ids = await parts.cardIndex?.entriesOf(moment, card);
  if (ids === undefined) return entriesOfCard(sql, account, card);
  return entriesById(sql, account, ids.slice(-MOST_OF_A_KIND));
}
