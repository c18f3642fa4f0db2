/** Which card is which: by its pin, then by its marker, then by the marker of a name that was moved. */
import { CliError } from '../core/errors.ts';
import { shellWord } from '../core/shell-quote.ts';
import type { Account, ObservedCard } from './account.ts';
import type { Fleet, Wish } from './fleet-file.ts';
import { markText } from './names.ts';

/** The cards of one name. */
export interface Matched {
  readonly wish: Wish;
  /** The card there is: pinned, or its highest generation that is not terminated. */
  readonly present: ObservedCard | undefined;
  /** Older cards of the name that are not terminated. */
  readonly predecessors: readonly ObservedCard[];
  /** Highest generation ever; 0 for none. */
  readonly highest: number;
  /** It had a card, and somebody terminated it. */
  readonly ended: ObservedCard | undefined;
}

export interface Match {
  readonly matched: readonly Matched[];
  /** Cards of this fleet whose name is no longer in the file, not terminated and not retired. */
  readonly left: readonly ObservedCard[];
  /** Cards of this fleet that are not terminated, pinned ones too. */
  readonly live: number;
  /** Pins that are not in the account. */
  readonly lost: readonly Wish[];
}

/** Throws `check_failed` where one card stands for two, or two for one: nothing is planned then. */
export function matchCards(fleet: Fleet, { cards }: Account): Match {
  const byName = new Map<string, ObservedCard[]>();
  for (const card of cards.values()) {
    if (card.mark?.fleet !== fleet.name) continue;
    const name = fleet.moved.get(card.mark.name) ?? card.mark.name;
    const same = byName.get(name);
    if (same === undefined) byName.set(name, [card]);
    else same.push(card);
  }
  const retired = new Set(fleet.retired.map(({ card }) => card));
  const pinned = new Map(fleet.wishes.flatMap(wish => (wish.pin === undefined ? [] : [[wish.pin, wish] as const])));
  const broken: string[] = [];
  const [matched, lost]: [Matched[], Wish[]] = [[], []];
  const live = new Set<string>();
  for (const wish of fleet.wishes) {
    const marked = byName.get(wish.name) ?? [];
    byName.delete(wish.name);
    broken.push(...duplicatesIn(marked));
    for (const card of marked) {
      const owner = pinned.get(card.id);
      if (owner !== undefined && owner !== wish)
        broken.push(`${card.id} is ${wish.name} by its marker and ${owner.name} by its pin`);
    }
    const found = matchOne(wish, marked, { fleet: fleet.name, cards, retired, broken });
    if (wish.pin !== undefined && !cards.has(wish.pin)) lost.push(wish);
    else matched.push(found);
    for (const card of [...(found.present === undefined ? [] : [found.present]), ...found.predecessors])
      live.add(card.id);
  }
  const left: ObservedCard[] = [];
  for (const marked of byName.values()) {
    broken.push(...duplicatesIn(marked));
    for (const card of marked) {
      if (card.status === 'terminated') continue;
      live.add(card.id);
      if (!retired.has(card.id) && !pinned.has(card.id)) left.push(card);
    }
  }
  for (const id of retired) if (isLive(cards.get(id))) live.add(id);
  if (broken.length > 0) throw notOneForOne(fleet.name, broken);
  return { matched, left, live: live.size, lost };
}

function isLive(card: ObservedCard | undefined): boolean {
  return card !== undefined && card.status !== 'terminated';
}

interface Around {
  readonly fleet: string;
  readonly cards: Account['cards'];
  readonly retired: ReadonlySet<string>;
  readonly broken: string[];
}

function matchOne(wish: Wish, marked: readonly ObservedCard[], { fleet, cards, retired, broken }: Around): Matched {
  const generation = (card: ObservedCard) => card.mark?.generation ?? 0;
  const highest = marked.reduce((most, card) => Math.max(most, generation(card)), 0);
  const isUsable = (card: ObservedCard) => isLive(card) && !retired.has(card.id);
  // By generation and by id: the order of the list says nothing.
  const newest = [...marked].sort((a, b) => generation(b) - generation(a) || (a.id < b.id ? -1 : 1));
  const usable = newest.filter(isUsable);
  const pin = wish.pin === undefined ? undefined : cards.get(wish.pin);
  if (pin?.mark !== undefined && pin.mark.fleet !== fleet) {
    broken.push(`${wish.name} is pinned to ${pin.id}, which is ${markText(pin.mark)}`);
  }
  if (pin !== undefined && isLive(pin)) {
    const others = usable.filter(card => card !== pin);
    if (others.length > 0) {
      broken.push(`${wish.name} is ${pin.id} by its pin and ${others.map(({ id }) => id).join(', ')} by its marker`);
    }
    return { wish, present: pin, predecessors: [], highest, ended: undefined };
  }
  const [present, ...predecessors] = [...usable, ...adoptedBefore(wish, marked, cards).filter(isUsable)];
  const ended = present === undefined ? (pin ?? newest[0]) : undefined;
  return { wish, present, predecessors, highest, ended };
}

/** Cards that `replace` names and that carry no marker: they were adopted by their ids. */
function adoptedBefore(
  { replaced, isOneOfSeveral }: Wish,
  marked: readonly ObservedCard[],
  cards: Account['cards'],
): readonly ObservedCard[] {
  if (isOneOfSeveral) return [];
  const named = replaced.map(({ card }) => cards.get(card)).filter(card => card !== undefined);
  return named.filter(card => card.mark === undefined && !marked.includes(card));
}

/** Two cards that are not terminated with one marker: all are named, and the surplus ones with the way to end them. */
function duplicatesIn(marked: readonly ObservedCard[]): readonly string[] {
  if (marked.length < 2) return [];
  const byMark = new Map<string, ObservedCard[]>();
  for (const card of marked) {
    if (!isLive(card) || card.mark === undefined) continue;
    const key = String(card.mark.generation);
    byMark.set(key, [...(byMark.get(key) ?? []), card]);
  }
  return [...byMark.values()].filter(same => same.length > 1).flatMap(surplusText);
}

function surplusText(same: readonly ObservedCard[]): readonly string[] {
  const [kept, ...surplus] = [...same].sort(keptFirst);
  if (kept?.mark === undefined) return [];
  const ids = [kept, ...surplus].map(({ id }) => id).join(', ');
  return [
    `${same.length} cards carry the marker ${markText(kept.mark)}: ${ids}. ${kept.id} stays`,
    ...surplus.flatMap(({ id, status }) => [
      ...(status === 'active' ? [`cardwright cards freeze ${shellWord(id)}`] : []),
      `cardwright cards terminate ${shellWord(id)}`,
    ]),
  ];
}

/** The older card stays; one that somebody has frozen is the surplus one already. */
function keptFirst(one: ObservedCard, other: ObservedCard): number {
  const [isActive, otherIsActive] = [one, other].map(({ status }) => status === 'active');
  if (isActive !== otherIsActive) return isActive ? -1 : 1;
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

function notOneForOne(fleet: string, broken: readonly string[]): CliError {
  return new CliError('check_failed', {
    message: `the cards of ${fleet} are not one for one; nothing was planned`,
    notes: broken,
    outcome: 'not_sent',
  });
}
