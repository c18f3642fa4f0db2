/** Reads cards: active and frozen ones in full, terminated ones as far as they are not known, the rest one by one. */

import { LIMITS } from '../contract/limits.ts';
import type { PageFacts } from '../contract/operation.ts';
import { incompleteList } from '../contract/whole-list.ts';
import { CliError } from '../core/errors.ts';
import { isLastPage } from './paced-reader.ts';
import type { Card } from './records.ts';
import type { SyncRun } from './run.ts';
import { storeCards, storeGoneCard } from './store-cards.ts';

const PER_PAGE = LIMITS.pageSize.max;
/** Times a list that moved is read again. */
const TRIES = 3;

type Status = 'active' | 'frozen' | 'terminated';

/** Reads them and writes down when. */
export async function readCards(run: SyncRun): Promise<void> {
  const { db } = run;
  const seen = new Set<string>();
  const isFiltered = await readState(run, 'active', seen);
  // A service that takes no notice of the state has shown all of them.
  if (isFiltered) {
    await readState(run, 'frozen', seen);
    await readTerminated(run, seen);
    await readOthers(run, seen);
  }
  const left = db.all<{ card_id: string }>(
    `select card_id from card where gone_at is null and status <> 'terminated' order by card_id`,
  );
  for (const { card_id } of left) if (!seen.has(card_id)) await readAlone(run, card_id);
  db.commit(() => db.setFact('cards_at', run.now));
}

/**
 * Reads all pages, again where rows moved meanwhile. Resolves to false where cards of other states came. Throws
 * `contract_mismatch` where the service counts other cards than it shows, of this state and in all.
 */
async function readState(run: SyncRun, status: Status, seen: Set<string>): Promise<boolean> {
  const keep = (found: ReadonlyMap<string, Card>) => {
    run.db.commit(() => storeCards(run, [...found.values()]));
    for (const id of found.keys()) seen.add(id);
  };
  let before: ReadList | undefined;
  for (let attempt = 0; ; attempt += 1) {
    const list = await readList(run, status);
    const { found, first, last } = list;
    keep(found);
    const isFiltered = [...found.values()].every(card => card.status === status);
    const isWhole = first === undefined || (first === last && first === found.size);
    if (isWhole) return isFiltered;
    const isSteady = first === last && before?.first === first && before?.found.size === found.size;
    before = list;
    if (attempt < TRIES) continue;
    // A list that moves is as good as it gets; one that stands still and lacks cards is not.
    if (!isSteady) return isFiltered;
    // A service may count the cards of every state.
    const all = await readList(run, undefined);
    keep(all.found);
    if (all.first !== all.last || all.first === all.found.size) return false;
    throw missingCards(all.first, all.found.size);
  }
}

function missingCards(total: number | undefined, rows: number): CliError {
  const why = `the service counts ${total}, but ${rows} were received`;
  return incompleteList('cards.list', `${why}. Nothing can be decided by a copy that lacks cards`);
}

interface ReadList {
  readonly found: ReadonlyMap<string, Card>;
  /** What the first and the last page count that tell it. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** All pages once; of every state without `status`. */
async function readList(run: SyncRun, status: Status | undefined): Promise<ReadList> {
  const found = new Map<string, Card>();
  let [first, last]: (number | undefined)[] = [];
  for (let number = 1; ; number += 1) {
    const { data, page } = await cardPage(run, status, number);
    const before = found.size;
    for (const card of data) found.set(card.id, card);
    if (number === 1) first = page.total;
    last = page.total ?? last;
    const standing = { number, rows: data.length, fresh: found.size - before, distinct: found.size };
    if (isLastPage(page, standing)) return { found, first, last };
  }
}

/** Terminated cards do not change any more: a page of known ones ends it, where their count agrees. */
async function readTerminated(run: SyncRun, seen: Set<string>): Promise<void> {
  const { db } = run;
  const isKnown = (id: string) =>
    db.get('select 1 as one from card where card_id = ? and status = ? and gone_at is null', id, 'terminated') !==
    undefined;
  let distinct = 0;
  const came = new Set<string>();
  for (let number = 1; ; number += 1) {
    const { data, page } = await cardPage(run, 'terminated', number);
    const fresh = data.filter(({ id }) => !isKnown(id));
    for (const { id } of data) {
      seen.add(id);
      came.add(id);
    }
    if (fresh.length > 0) db.commit(() => storeCards(run, fresh));
    const here = db.get<{ count: number }>(
      `select count(*) as count from card where status = 'terminated' and gone_at is null`,
    )?.count;
    if (fresh.length === 0 && (page.total === undefined || page.total === here)) return;
    const standing = { number, rows: data.length, fresh: came.size - distinct, distinct: came.size };
    distinct = came.size;
    if (!isLastPage(page, standing)) continue;
    if (page.total !== undefined && page.total !== came.size) await readState(run, 'terminated', seen);
    return;
  }
}

/** Cards in a state that the interface does not name are in no list of a state: the count of all tells of them. */
async function readOthers(run: SyncRun, seen: Set<string>): Promise<void> {
  const { db } = run;
  const { page } = await run.ask.read('cards.list', { per_page: 1 });
  const known = () => db.get<{ count: number }>('select count(*) as count from card where gone_at is null')?.count ?? 0;
  let distinct = 0;
  const came = new Set<string>();
  for (let number = 1; page.total !== undefined && known() < page.total; number += 1) {
    const { data, page: facts } = await cardPage(run, undefined, number);
    const isKnown = (id: string) => db.get('select 1 as one from card where card_id = ? and gone_at is null', id);
    const fresh = data.filter(({ id }) => isKnown(id) === undefined);
    if (fresh.length > 0) db.commit(() => storeCards(run, fresh));
    for (const { id } of fresh) seen.add(id);
    for (const { id } of data) came.add(id);
    const standing = { number, rows: data.length, fresh: came.size - distinct, distinct: came.size };
    distinct = came.size;
    if (isLastPage(facts, standing)) return;
  }
}

async function cardPage(
  { ask }: SyncRun,
  status: Status | undefined,
  number: number,
): Promise<{ data: readonly Card[]; page: PageFacts }> {
  try {
    return await ask.read('cards.list', {
      ...(status && { status }),
      per_page: PER_PAGE,
      ...(number > 1 && { page: number }),
    });
  } catch (error) {
    if (number > 1 && error instanceof CliError && error.kind === 'not_found') return { data: [], page: {} };
    throw error;
  }
}

async function readAlone(run: SyncRun, cardId: string): Promise<void> {
  try {
    const card = await run.ask.read('cards.get', { card_id: cardId });
    run.db.commit(() => storeCards(run, [card]));
  } catch (error) {
    if (!(error instanceof CliError) || error.kind !== 'not_found') throw error;
    run.db.commit(() => storeGoneCard(run, cardId));
  }
}
