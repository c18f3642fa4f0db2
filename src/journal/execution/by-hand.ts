/** What a person has recorded of rows by hand, in words for the others. */
import { isoSeconds } from '../../core/iso-time.ts';
import { capital, rowsNamed } from '../../core/row-words.ts';
import type { RowHistory } from '../wal/replay.ts';

type ByHand = NonNullable<RowHistory['resolved']>;

/** Who has recorded something on one machine: the user of it, and nobody else works there. */
export const ON_THIS_MACHINE = 'operator';

/** ` by ben@desk at 2026-11-20T14:03:11Z`; empty where one machine alone has the journal. */
export function byWhom({ who, at }: Pick<ByHand, 'who' | 'at'>): string {
  return who === ON_THIS_MACHINE ? '' : ` by ${who} at ${isoSeconds(at)}`;
}

/** A sentence for all rows that one person has recorded at once; none where one machine alone has the journal. */
export function recordedNotes(rows: Iterable<RowHistory>): readonly string[] {
  const groups = new Map<
    string,
    { readonly resolved: ByHand; readonly isAnswered: boolean; readonly rows: number[] }
  >();
  for (const row of rows) {
    const { item, resolved } = row;
    if (resolved === undefined || resolved.who === ON_THIS_MACHINE) continue;
    const { as, who, note, at } = resolved;
    const isAnswered = as === 'not-done' && row.state === 'done';
    const key = JSON.stringify([as, who, note, isoSeconds(at), isAnswered]);
    const group = groups.get(key) ?? { resolved, isAnswered, rows: [] };
    group.rows.push(item.row);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ resolved, isAnswered, rows }) => {
    const [which, was] = [capital(rowsNamed(rows)), rows.length === 1 ? 'was' : 'were'];
    const as = resolved.as === 'done' ? 'done' : 'not done';
    const since = isAnswered
      ? `. The service has answered since: ${rows.length === 1 ? 'it is' : 'they are'} done`
      : '';
    return `${which} ${was} recorded as ${as}${byWhom(resolved)}: ${resolved.note}${since}`;
  });
}
