/** Cards that other operations of this journal have made: an answer that names one of them shows no new card. */
import { CliError } from '../../core/errors.ts';
import type { MadeBefore, MadeBeforeBy } from '../execution/run-context.ts';
import type { OpStore } from '../store/op-store.ts';
import { decodeLines } from '../wal/codec.ts';
import type { PlanRecord } from '../wal/records.ts';
import { historyOf } from '../wal/replay.ts';
import { type Account, mayBeOf } from './same-account.ts';

/**
 * Looks an id up among the cards of other operations of the same account. A single create reads what the journal says of its
 * one card; a run of many reads all of it at its first question, and what is made beside it from then on is not seen.
 */
export function madeBeforeBy(store: OpStore, { op, origin, mode, bulk }: PlanRecord): MadeBeforeBy {
  let all: Promise<ReadonlyMap<string, readonly MadeBefore[]>> | undefined;
  const others = { store, op, account: { origin, mode } };
  return async id => {
    if (!bulk) return (await madeCards(others, id)).get(id) ?? [];
    all ??= madeCards(others);
    return (await all).get(id) ?? [];
  };
}

interface Others {
  readonly store: OpStore;
  readonly op: string;
  readonly account: Account;
}

/** By card id; with `id` of that card alone. A journal that cannot be read says nothing. */
async function madeCards({ store, op, account }: Others, id?: string): Promise<ReadonlyMap<string, MadeBefore[]>> {
  const made = new Map<string, MadeBefore[]>();
  const isOfAccount = mayBeOf(store, account);
  for await (const head of store.heads()) {
    if (head.op === op) continue;
    const plan = await head.plan();
    if (plan?.capability['cards.create'] === undefined || !(await isOfAccount(plan))) continue;
    for (const [card, before] of await cardsIn(store, head.op, id)) {
      const known = made.get(card);
      if (known === undefined) made.set(card, [before]);
      else known.push(before);
    }
  }
  return made;
}

async function cardsIn(store: OpStore, op: string, id?: string): Promise<(readonly [string, MadeBefore])[]> {
  const bytes = await store.read(op);
  // Most journals do not name the card; those need no reading.
  if (
    bytes === undefined ||
    (id !== undefined && !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(id))
  )
    return [];
  try {
    const { rows = new Map() } = historyOf(decodeLines(bytes, op).written) ?? {};
    const cards: (readonly [string, MadeBefore])[] = [];
    for (const { item, state, done } of rows.values()) {
      if (item.operation !== 'cards.create' || state !== 'done' || done?.id === undefined) continue;
      cards.push([done.id, { op, row: item.row, key: item.key, madeAt: done.made_at, doneAt: done.at }]);
    }
    return cards;
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.kind === 'check_failed') return [];
    throw thrown;
  }
}
