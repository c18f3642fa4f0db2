/**
 * Cards that are not what a shared journal says of them: their marker names an op that it does not have, for somebody has made
 * them past it; or a row that a person has recorded as not done; or several rows say to have made them.
 */
import type { Item } from '../../contract/calls.ts';
import { CLOCK_MARGIN_MS } from '../../contract/evidence.ts';
import type { ListPage } from '../../contract/operation.ts';
import type { Reader } from '../../contract/service.ts';
import { fromWholeList } from '../../contract/whole-list.ts';
import { MARKER_KEY, opOfMarker } from '../execution/marker.ts';
import { type CheckedJournal, type JournalFlaw, MADE_PAST, type NotedCard, type StoreCheck } from '../shared-ops.ts';

/** Throws `contract_mismatch` for a list that may be incomplete. */
export async function checkCards(reader: Reader, store: StoreCheck): Promise<CheckedJournal> {
  const because = 'A card that was made past the journal could be missing';
  const list = { reader, operation: 'cards.list', input: { per_page: 100 }, because } as const;
  return fromWholeList(list, pages => checkPages(pages, store));
}

async function checkPages(
  pages: AsyncIterable<ListPage<Item<'cards.list'>>>,
  { lines, ops, records, since, clashes, flaws: before, acceptedCards, accepted, claimed, sqlForCard }: StoreCheck,
): Promise<CheckedJournal> {
  const flaws: JournalFlaw[] = [...before];
  const noted: NotedCard[] = [];
  const tell = (op: string, card: string, text: string) => {
    const known = acceptedCards.find(each => each.card === card);
    if (known === undefined) flaws.push({ what: 'card', op, card, text, sql: sqlForCard(card) });
    else noted.push({ ...known, text });
  };
  const first = new Map<string, string>();
  for await (const { data } of pages) {
    for (const { id, metadata, created_at } of data) {
      const marker = metadata?.[MARKER_KEY];
      const { op } = opOfMarker(marker ?? '') ?? {};
      if (op === undefined || marker === undefined) continue;
      const twin = first.get(marker);
      const isOlder = Date.parse(created_at ?? '') < since - CLOCK_MARGIN_MS;
      if (twin !== undefined) tell(op, id, `made by the same row as ${twin}`);
      else if (!ops.has(op) && !isOlder) tell(op, id, MADE_PAST);
      else {
        const objection = claimed.objection(marker, id);
        if (objection !== undefined) tell(op, id, objection);
      }
      first.set(marker, id);
    }
  }
  for (const { op, card, text } of claimed.several()) tell(op, card, text);
  return { lines, ops: ops.size, records, cards: first.size, flaws, clashes, accepted, acceptedCards: noted };
}
