/** The account as a fleet sees it: every card of the unfiltered list, each looked at once and most of them forgotten. */
import { Activities } from '../../books/activity.ts';
import { effectOf } from '../../books/effect.ts';
import type { Context } from '../../cli/context.ts';
import { pagesWithProgress } from '../../cli/listing.ts';
import { fromWholeList, incompleteList } from '../../contract/whole-list.ts';
import { CliError } from '../../core/errors.ts';
import { cents, centsOf, toCents } from '../../core/money.ts';
import {
  type Account,
  AccountCards,
  type CardRecords,
  type ListedCard,
  MARKER_KEY,
  type ObservedBin,
} from '../../fleet/account.ts';
import { BIN_NEEDS, type Fleet } from '../../fleet/fleet-file.ts';
import { UnmarkedCards } from '../../fleet/unmarked.ts';
import { recordValues } from '../../mirror/records.ts';
import type { Bin } from '../bins/rank.ts';

/** Cards that are read one by one where the list shows no metadata. */
const MOST_SINGLE_READS = 200;
const AT_ONCE = 8;

export interface AccountRead {
  readonly account: Account;
  readonly bins: readonly Bin[];
  /** False where the service does not show markers: a card of the fleet could not be told from another. */
  readonly showsMarkers: boolean;
  readonly unmarked: UnmarkedCards;
}

interface AccountAsked {
  /** Ids of an earlier plan's witness. */
  readonly witness?: readonly string[] | undefined;
  /** Cards that were made with a marker. */
  readonly marked: ReadonlySet<string>;
}

/**
 * Throws `contract_mismatch` for a list that may be incomplete, for a card not seen would be made a second time, and for
 * balances that are no amounts. Reads alone.
 */
export async function readAccount(ctx: Context, fleet: Fleet, asked: AccountAsked): Promise<AccountRead> {
  const [{ data: bins }, wallet] = await Promise.all([ctx.read('bins.list', {}), ctx.read('wallet.get', {})]);
  const { cards, showsMarkers, unmarked } = await readCards(ctx, fleet, asked);
  const now = await ctx.askServiceTime();
  const account = cards.account({ bins: bins.map(observedBin), wallet: toCents(wallet.balance), now });
  return { account, bins, showsMarkers, unmarked };
}

interface CardsRead {
  readonly cards: AccountCards;
  readonly showsMarkers: boolean;
  readonly unmarked: UnmarkedCards;
}

async function readCards(ctx: Context, fleet: Fleet, { witness, marked }: AccountAsked): Promise<CardsRead> {
  const isBare = ({ id, metadata }: ListedCard) =>
    metadata === undefined || (marked.has(id) && metadata?.[MARKER_KEY] === undefined);
  const { progress } = ctx;
  // Always the whole list: between two filters a card can change its state and be in neither.
  const list = {
    reader: await ctx.reader(),
    operation: 'cards.list',
    input: { per_page: 100 },
    because: TWICE,
  } as const;
  const { cards, bare, unmarked } = await fromWholeList(list, async pages => {
    const read = {
      cards: new AccountCards(fleet, witness),
      bare: [] as ListedCard[],
      unmarked: new UnmarkedCards(fleet),
    };
    for await (const list of pagesWithProgress(pages, { noun: 'card', progress })) {
      for (const card of list.data) {
        if (isBare(card)) read.bare.push(card);
        else added(read, card);
      }
    }
    return read;
  });
  if (bare.length > MOST_SINGLE_READS) {
    const many = `it shows no metadata, and ${bare.length} cards are too many to read one by one`;
    throw incompleteList('cards.list', `${many}. ${TWICE}`);
  }
  let shown = true;
  for (const { id } of bare) {
    const card = await ctx.read('cards.get', { card_id: id });
    if (isBare(card)) shown = false;
    added({ cards, unmarked }, card);
  }
  return { cards, showsMarkers: shown, unmarked };
}

const TWICE = 'A card that is not seen would be made a second time';

function added({ cards, unmarked }: Pick<CardsRead, 'cards' | 'unmarked'>, card: ListedCard): void {
  unmarked.add(card);
  if (cards.add(card)) return;
  throw new CliError('contract_mismatch', {
    message: `the balance of ${card.id} is not an amount`,
    outcome: 'not_sent',
  });
}

function observedBin(bin: Bin): ObservedBin {
  return {
    id: bin.id,
    maxMonthly: centsOf(bin.max_monthly ?? Number.NaN),
    maxTransaction: centsOf(bin.max_transaction ?? Number.NaN),
    features: new Set(BIN_NEEDS.filter(need => bin[need] === true)),
  };
}

/** The records of each card, read for those few that something depends on. */
export async function readRecords(
  ctx: Context,
  ids: readonly string[],
  now: number,
): Promise<Map<string, CardRecords>> {
  const records = new Map<string, CardRecords>();
  const left = [...ids];
  const worker = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) records.set(id, await recordsOf(ctx, id, now));
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, ids.length) }, worker));
  return records;
}

async function recordsOf(ctx: Context, id: string, now: number): Promise<CardRecords> {
  const activities = new Activities(now);
  let newest: { readonly id: string; readonly at: number } | undefined;
  let [held, lastUse] = [0, Number.NEGATIVE_INFINITY];
  const pages = (await ctx.reader()).pages('transactions.list', { card_id: id });
  for await (const { data } of pages) {
    for (const record of data) {
      const { at_ms: at, ...values } = recordValues(record);
      const when = at ?? 0;
      const row = { ...values, tx_id: record.id, at_ms: when };
      activities.add({ ...row, card_id: id });
      held += effectOf(row).pending;
      if (row.type !== 'decline') lastUse = Math.max(lastUse, when);
      if (newest === undefined || when > newest.at || (when === newest.at && record.id > newest.id)) {
        newest = { id: record.id, at: when };
      }
    }
  }
  return {
    newest: newest?.id ?? '',
    usedThisMonth: cents(activities.monthUsed(id)),
    holdsOpen: held > 0,
    lastUse: lastUse === Number.NEGATIVE_INFINITY ? undefined : lastUse,
  };
}
