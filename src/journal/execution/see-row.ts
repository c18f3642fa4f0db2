/** Where a person looks for what came of a row, in a command that works when it is copied. */
import { MINUTE } from '../../core/durations.ts';
import { isoSeconds } from '../../core/iso-time.ts';
import { shellWord } from '../../core/shell-quote.ts';
import { isResentOnCheck, type RowHistory } from '../wal/replay.ts';

/** The clock of the service may be behind ours by so much. */
const CLOCKS_MS = 10 * MINUTE;

/** Where a person sees what came of a row that no look decides. */
export function commandToSee(row: RowHistory): string | undefined {
  const { item, lastSent } = row;
  const { operation, input } = item;
  // An answer named a card that no reading has shown since.
  const card = item.card ?? (isResentOnCheck(row) ? undefined : row.done?.id);
  if (card !== undefined) return `Look yourself: cardwright cards get ${shellWord(card)}`;
  if (operation !== 'cards.create' || lastSent === undefined) return undefined;
  const since = shellWord(`created_at>=${isoSeconds(lastSent.at - CLOCKS_MS)}`);
  return `Cards that may be it: cardwright cards list --bin ${shellWord(String(input['bin_id']))} --where ${since}`;
}
