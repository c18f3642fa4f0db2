/**
 * Rows whose name, or whose key of the caller's, belongs to another op: it was used again before this op was brought from
 * elsewhere (docs/design/team.md, section 6). They are looked for, and never sent.
 */
import type { NamesUsed, OpStore } from '../store/op-store.ts';
import { type History, mayBePerformed, type RowHistory } from '../wal/replay.ts';

/**
 * Asked when a row needs it: with the op in hand a name of a row that is not settled can only come back to it. A run of many asks
 * once for all.
 */
export function namesOfOthers(store: Pick<OpStore, 'usedByOthers'>, history: History) {
  const { op, given_key: key, bulk } = history.plan;
  let owner: Promise<(row: number) => string | undefined> | undefined;
  const ask = async () => {
    const names = [...history.rows.values()].filter(isLeft(bulk)).flatMap(({ item }) => item.intent ?? []);
    const isNamed = names.length > 0 || key !== undefined;
    const used = isNamed ? await store.usedByOthers?.(op, { names, key }) : undefined;
    return ownerOf(history, used ?? { names: new Map() });
  };
  return async (row: number): Promise<string | undefined> => {
    owner ??= ask();
    return (await owner)(row);
  };
}

/** By row, the op that has its name. */
export function ownerOf({ rows }: Pick<History, 'rows'>, { names, key }: NamesUsed) {
  return (row: number): string | undefined => key ?? names.get(rows.get(row)?.item.intent ?? '');
}

/** A resume would send it, or might. */
export function isLeft(bulk: boolean): (row: RowHistory) => boolean {
  return row => row.state === 'unknown' || mayBePerformed(row, bulk);
}
