/** Cards as they are where a list is behind: what this journal has done moments ago counts beside it. */
import type { Item } from '../contract/calls.ts';
import { fromWholeList } from '../contract/service.ts';
import { undefinedOn } from '../core/errors.ts';
import { toCents } from '../core/money.ts';
import type { Change } from '../journal/records.ts';
import type { Context } from './context.ts';
import { pagesWithProgress } from './listing.ts';

type Card = Item<'cards.list'>;

const STATUS: { readonly [operation: string]: string } = {
  'cards.freeze': 'frozen',
  'cards.unfreeze': 'active',
  'cards.terminate': 'terminated',
};

/** Of the built-in sandbox nothing is behind. */
export async function recentCards(ctx: Context) {
  const isExact = (await ctx.api.identity()).mode === 'sandbox';
  const byCard = new Map<string, Change[]>();
  for (const change of isExact ? [] : await (await ctx.journal.open()).recent()) {
    const { card } = change;
    if (card !== undefined) byCard.set(card, [...(byCard.get(card) ?? []), change]);
  }
  const listed = new Set<string>();
  return {
    /** Cards of a page; one that is not as this journal has left it is read by itself. */
    async asTheyAre(page: readonly Card[]): Promise<readonly Card[]> {
      const cards: Card[] = [];
      for (const card of page) {
        listed.add(card.id);
        const isAsLeft = agrees(card, byCard.get(card.id) ?? []);
        cards.push(isAsLeft ? card : ((await cardAlone(ctx, card.id)) ?? card));
      }
      return cards;
    },
    /** Cards that this journal has made and no page had, newest first. */
    async notListed(): Promise<readonly Card[]> {
      const cards: Card[] = [];
      for (const [id, changes] of byCard) {
        if (listed.has(id) || !changes.some(({ operation }) => operation === 'cards.create')) continue;
        const card = await cardAlone(ctx, id);
        if (card !== undefined) cards.unshift(card);
      }
      return cards;
    },
  };
}

/** Every card that passes, newest first, as this journal has left it. Throws `contract_mismatch` for a list that may be incomplete. */
export async function wholeCards(
  ctx: Context,
  because: string,
  keep: (card: Card) => boolean,
): Promise<readonly Card[]> {
  const reader = await ctx.api.reader();
  const { progress } = ctx.ui;
  return fromWholeList({ reader, operation: 'cards.list', input: { per_page: 100 }, because }, async pages => {
    const recent = await recentCards(ctx);
    const kept: Card[] = [];
    for await (const { data } of pagesWithProgress(pages, { noun: 'card', progress }))
      kept.push(...(await recent.asTheyAre(data)).filter(keep));
    return [...(await recent.notListed()).filter(keep), ...kept];
  });
}

/** The list shows what the changes have left, oldest first. */
function agrees(card: Card, changes: readonly Change[]): boolean {
  const status = changes.map(({ operation }) => STATUS[operation]).findLast(each => each !== undefined);
  const moved = changes.findLast(({ operation }) => !(operation in STATUS));
  const balance = status === 'terminated' ? undefined : moved;
  return (
    (status === undefined || card.status === status) &&
    (balance === undefined || toCents(card.balance) === (balance.evidence.balance ?? Number.NaN))
  );
}

async function cardAlone(ctx: Context, id: string): Promise<Card | undefined> {
  return undefinedOn('not_found', ctx.api.read('cards.get', { card_id: id }) as Promise<Card>);
}
