/** What the journal of this machine knows of a service: operations without a known outcome, and cards that fleets have made. */
import type { Context } from '../../cli/context.ts';
import type { OpRow } from '../../journal/types.ts';

export interface UnknownRow {
  readonly op: string;
  readonly row: OpRow;
}

export interface FleetJournal {
  readonly unknown: readonly UnknownRow[];
  /** Ids of cards that applies have made; each carries a marker, where the service keeps it. */
  readonly made: ReadonlySet<string>;
}

/** Reads the journal alone. `origin` is the base address. */
export async function readFleetJournal(ctx: Context, origin: string): Promise<FleetJournal> {
  const journal = await ctx.journal();
  const { profile } = await ctx.identity();
  const unknown: UnknownRow[] = [];
  const made = new Set<string>();
  for (const { op, command, state, profile: of } of await journal.list()) {
    const isDoubted = state === 'unknown' && of === profile;
    if (!isDoubted && command !== 'fleet apply') continue;
    const { rowsInDetail, origin: at } = await journal.show(op);
    if (at !== origin) continue;
    for (const row of rowsInDetail) {
      if (isDoubted && row.state === 'unknown') unknown.push({ op, row });
      const { operation, cardId, state: is } = row;
      if (command === 'fleet apply' && operation === 'cards.create' && is === 'done' && cardId !== undefined) {
        made.add(cardId);
      }
    }
  }
  return { unknown, made };
}
