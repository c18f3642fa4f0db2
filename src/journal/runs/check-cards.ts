/** Cards whose marker names an op that a shared journal does not have: somebody has made them past it. */
import { CLOCK_MARGIN_MS } from '../../contract/evidence.ts';
import type { Reader } from '../../contract/service.ts';
import { MARKER_KEY } from '../execution/marker.ts';
import type { CheckedJournal, JournalFlaw, StoreCheck } from '../shared-ops.ts';

/** `markerOf`; the markers of a fleet name no op. */
const MARKER = /^(op_[0-9a-z]{26})\.\d+$/;

export async function checkCards(reader: Reader, store: StoreCheck): Promise<CheckedJournal> {
  const { lines, ops, records, since } = store;
  const flaws: JournalFlaw[] = [...store.flaws];
  const first = new Map<string, string>();
  for await (const { data } of reader.pages('cards.list', { per_page: 100 })) {
    for (const { id, metadata, created_at } of data) {
      const marker = metadata?.[MARKER_KEY];
      const [, op] = MARKER.exec(marker ?? '') ?? [];
      if (op === undefined || marker === undefined) continue;
      const twin = first.get(marker);
      const isOlder = Date.parse(created_at ?? '') < since - CLOCK_MARGIN_MS;
      if (twin !== undefined) flaws.push({ what: 'card', op, card: id, text: `made by the same row as ${twin}` });
      else if (!ops.has(op) && !isOlder) flaws.push({ what: 'card', op, card: id, text: 'made past this journal' });
      first.set(marker, id);
    }
  }
  return { lines, ops: ops.size, records, cards: first.size, flaws };
}
