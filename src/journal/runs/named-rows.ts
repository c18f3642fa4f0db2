/** Rows that have a name of the caller's own. */
import { CliError } from '../../core/errors.ts';
import type { ClaimedIntent } from '../store/op-store.ts';
import type { PlannedRow, RunPlan } from '../types.ts';
import { intentDigest } from '../wal/op-id.ts';

/** The named rows of a plan, and what each name stands for. */
export interface Named {
  readonly claimed: readonly ClaimedIntent[];
  readonly names: ReadonlySet<string>;
}

/** Undefined where no row of the plan has a name. */
export function namedIn({ rows, key }: Pick<RunPlan, 'rows' | 'key'>): Named | undefined {
  const claimed: ClaimedIntent[] = [];
  for (const row of rows) {
    if (row.intent === undefined) continue;
    claimed.push({ name: row.intent, digest: intentDigest(row, key), row: row.row });
  }
  if (claimed.length === 0) return undefined;
  const names = new Set(claimed.map(({ name }) => name));
  if (names.size < claimed.length) throw new CliError('internal', { message: 'one intent for two rows' });
  return { claimed, names };
}

/** Every row has one: what is the same as before, and is named otherwise, is meant. */
export function isNamed(rows: Iterable<Pick<PlannedRow, 'intent'>>): boolean {
  for (const { intent } of rows) if (intent === undefined) return false;
  return true;
}
