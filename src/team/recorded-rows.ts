/** What persons have recorded by hand of the rows of an op: the reason in the line of the chain that ends it. */
import { rowsNamed } from '../core/row-words.ts';
import { ON_THIS_MACHINE } from '../journal/execution/by-hand.ts';
import type { RowRecord } from '../journal/wal/records.ts';

type Resolved = Extract<RowRecord, { t: 'RESOLVED' }>;

/** Characters of it at most, as of every reason in the chain. */
const LONGEST = 200;

export interface RecordedRows {
  note(record: Resolved): void;
  /** Undefined where nobody has recorded anything. */
  text(): string | undefined;
}

export function createRecordedRows(): RecordedRows {
  const groups = new Map<string, { readonly resolved: Resolved; readonly rows: number[] }>();
  return {
    note(resolved) {
      const { as, who, note, row } = resolved;
      const key = JSON.stringify([as, who, note]);
      const group = groups.get(key) ?? { resolved, rows: [] };
      group.rows.push(row);
      groups.set(key, group);
    },
    text() {
      if (groups.size === 0) return undefined;
      return lineOf([...groups.values()].map(({ resolved, rows }) => wordsOf(resolved, rows)).join('; '));
    },
  };
}

function wordsOf({ as, who, note }: Resolved, rows: readonly number[]): string {
  const by = who === ON_THIS_MACHINE ? '' : ` by ${who}`;
  return `${rowsNamed(rows)} declared ${as === 'done' ? 'done' : 'not done'}${by}: ${note}`;
}

/** The database takes a line without control characters, and a note may have any. */
function lineOf(text: string): string {
  const characters = [...text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ')];
  return characters.length <= LONGEST ? characters.join('') : `${characters.slice(0, LONGEST - 1).join('')}…`;
}
