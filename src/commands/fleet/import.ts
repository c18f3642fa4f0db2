import { allOf, CONDITIONS } from '../../cli/condition.ts';
import type { Context } from '../../cli/context.ts';
import { countOf } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, option, optionalArgument, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import { quote } from '../../cli/parsing/values.ts';
import { wholeCards } from '../../cli/recent-cards.ts';
import type { Item } from '../../contract/calls.ts';
import { CARD, CARD_ID } from '../../contract/card.ts';
import { notSent, usage } from '../../core/errors.ts';
import { cents } from '../../core/money.ts';
import { MARKER_KEY, type ObservedCard, observedCard } from '../../fleet/account.ts';
import { entryText, nameFor, starterText } from '../../fleet/entry.ts';
import {
  type Entry,
  type Fleet,
  isName,
  isSecretName,
  LONGEST_FLEET,
  LONGEST_NAME,
  markText,
  secretsIn,
} from '../../fleet/fleet-file.ts';
import { fleetOf, parsedFleet, USUAL_FILE } from './file.ts';

const USUAL_FLEET = 'cards';

export const importFleet = command({
  path: 'fleet import',
  summary: 'Print a fleet file, or lines for one, that adopts cards that are there',
  reach: 'service',
  answers: {
    one: {
      text: tells.text(
        'What is printed otherwise: a new file, or lines that go under cards of the one that was named.',
      ),
      imported: tells.rows(
        { name: tells.text('Its name in the file.'), card: tells.text('The card.') },
        'Cards that are adopted.',
      ),
      left_out: tells.rows(
        { card: tells.text('The card.'), why: tells.text('Why.'), name: orNull(tells.text('Its name in the file.')) },
        'Cards that were found and not adopted.',
      ),
    },
  },
  ends: {
    check_failed: 'The card is of another fleet.',
  },
  about: [
    'Without a file a whole new one is printed; with one, lines that go under its cards. What is printed is what was seen, so that the next plan is empty where the defaults of the file say nothing else. No file is written, and nothing is sent but reads: a card is adopted by its id.',
    'A card with the marker of this fleet gets no id, so that a lost file can be written anew from the account. A new file spends nothing until caps.per_apply is raised.',
  ],
  args: { file: optionalArgument(local('file', 'The fleet file that gets the lines, - for standard input.')) },
  flags: {
    card: option(
      { ...CARD_ID, doc: 'The card to adopt.', must: false },
      { placeholder: '<card>', conflicts: ['where', 'none'] },
    ),
    name: option(takes.text('With --card: its name in the file; made from its label when left out.')),
    where: CONDITIONS,
    none: option(takes.flag('Only a new file, with comments.'), { conflicts: ['where'] }),
    fleet: option(
      takes.text(`Name of the fleet of a new file; ${USUAL_FLEET} when left out.`, { names: 'fleet' }),
      '<name>',
    ),
  },
  examples: {
    'A new file': 'fleet import --none --fleet ads > cards.fleet.yaml',
    'The line of one card': 'fleet import cards.fleet.yaml --card card_1 --name hosting',
    'A new file with every active card': 'fleet import --where status=active > cards.fleet.yaml',
  },
  async run(ctx, { file, card, name, where, none, fleet }) {
    if (card === undefined && where === undefined && !none)
      throw usage('fleet import needs one of --card, --where and --none', 'cardwright fleet import --help');
    if (file !== undefined && (none || fleet !== undefined))
      throw usage('--none and --fleet make a new file, and go without one');
    if (name !== undefined && card === undefined) throw usage('--name goes with --card');
    if (name !== undefined && !isName(name, LONGEST_NAME))
      throw usage(`--name ${quote(name)}: lower-case letters, digits, -`);
    const newName = fleet ?? USUAL_FLEET;
    if (!isName(newName, LONGEST_FLEET)) throw usage(`--fleet ${quote(newName)}: lower-case letters, digits, -`);
    // Faults of a file that is there are told before anything is asked.
    const there = file === undefined ? undefined : (await fleetOf(ctx, file)).fleet;
    const found = none ? [] : await cardsToAdopt(ctx, card, where);
    const start = there === undefined ? starterText(newName, found.length) : '';
    const parsed = there ?? (await parsedFleet(ctx, start, USUAL_FILE));
    return { file, start, ...chosenOf(parsed, found, { name, isOne: card !== undefined }) };
  },
  show({ file, start, entries, leftOut }) {
    const text = `${start}${entries.map(({ name, entry }) => `${entryText(name, entry)}\n`).join('')}`;
    return {
      data: {
        text,
        imported: entries.map(({ name, card }) => ({ name, card: card.id })),
        left_out: leftOut,
      },
      noun: 'card',
      columns: [],
      prose: text,
      notes: [
        ...leftOut.map(({ card, why }) => `${card} ${why}`),
        ...(file === undefined ? [] : [`${countOf(entries.length, 'card')} for cards: of ${file}`]),
      ],
    };
  },
});

type Card = Item<'cards.list'>;

async function cardsToAdopt(
  ctx: Context,
  card: string | undefined,
  where: readonly string[] = [],
): Promise<readonly ObservedCard[]> {
  const test = allOf(where, { shape: CARD, flag: '--where', now: () => ctx.api.serviceNow() });
  const found: readonly Card[] =
    card === undefined
      ? await wholeCards(ctx, 'A card that meets the conditions could be missing', test)
      : [(await ctx.api.read('cards.get', { card_id: card })) as Card];
  return found.map(each => {
    const seen = observedCard(each);
    if (seen !== undefined) return seen;
    throw notSent('contract_mismatch', `the balance of ${each.id} is not an amount`);
  });
}

/**
 * Oldest first, so that two runs over the same cards give the same names. `isOne`: one card was named, and what speaks
 * against it is an error, and no remark.
 */
function chosenOf(
  fleet: Fleet,
  cards: readonly ObservedCard[],
  { name: asked, isOne }: { name: string | undefined; isOne: boolean },
) {
  const taken = new Set(fleet.wishes.map(({ name }) => name));
  const byPin = new Map(fleet.wishes.flatMap(({ pin, name }) => (pin === undefined ? [] : [[pin, name] as const])));
  const entries: { readonly name: string; readonly entry: Entry; readonly card: ObservedCard }[] = [];
  const leftOut: { readonly card: string; readonly why: string; readonly name: string | null }[] = [];
  const age = ({ createdAt, id }: ObservedCard) => `${createdAt} ${id}`;
  for (const card of [...cards].sort((a, b) => (age(a) < age(b) ? -1 : 1))) {
    const why = whyNot(fleet, card, byPin);
    if (why !== undefined) {
      if (isOne) throw notSent(why.kind, `${card.id} ${why.text}`);
      leftOut.push({ card: card.id, why: why.text, name: byPin.get(card.id) ?? null });
      continue;
    }
    const name = asked ?? (isMarked(fleet, card) ? (card.mark?.name ?? '') : nameFor(card.label, card.last4, taken));
    if (taken.has(name)) {
      if (isOne) throw usage(`${quote(name)} is a card of this file already`);
      leftOut.push({ card: card.id, why: 'is in the file already', name });
      continue;
    }
    taken.add(name);
    entries.push({ name, entry: entryOf(fleet, card), card });
  }
  return { entries, leftOut };
}

function isMarked(fleet: Fleet, { mark }: ObservedCard): boolean {
  return mark?.fleet === fleet.name;
}

function whyNot(fleet: Fleet, card: ObservedCard, byPin: ReadonlyMap<string, string>) {
  if (card.status === 'terminated') return { kind: 'usage', text: 'is terminated' } as const;
  if (byPin.has(card.id)) return { kind: 'usage', text: 'is in the file already' } as const;
  if (fleet.retired.some(each => each.card === card.id))
    return { kind: 'usage', text: 'is retired in the file' } as const;
  if (card.mark !== undefined && !isMarked(fleet, card)) {
    return { kind: 'check_failed', text: `is ${markText(card.mark)}, a card of another fleet` } as const;
  }
  return undefined;
}

/** What was seen. Where the defaults say something else, the card says so for itself. */
function entryOf(fleet: Fleet, card: ObservedCard): Entry {
  const { label, limit, categories = [], autoFreezeAt = null, status } = card;
  const says = fleet.defaultFields;
  return {
    ...(!isMarked(fleet, card) && { card: card.id }),
    ...(isMarked(fleet, card) && !says.has('amount') && { amount: cents(2_500) }),
    ...(label !== '' && isWritable(label) && { label }),
    ...(limit !== undefined && { limit }),
    ...((categories.length > 0 || says.has('categories')) && { categories: [...categories] }),
    ...((autoFreezeAt !== null || says.has('auto_freeze_at')) && { auto_freeze_at: autoFreezeAt }),
    ...seenMetadata(card),
    ...((status === 'frozen' || says.has('state')) && { state: status === 'frozen' ? 'frozen' : 'active' }),
  };
}

/** Owner, team and metadata that were seen, without the marker: a file that was lost gets them back. */
function seenMetadata({ metadata = {} }: ObservedCard): Pick<Entry, 'owner' | 'team' | 'metadata'> {
  const isKept = ([key, value]: readonly [string, string]) =>
    key !== MARKER_KEY && /^[a-z][a-z0-9_-]*$/i.test(key) && value !== '' && isWritable(value) && !isSecretName(key);
  const { owner, team, ...others } = Object.fromEntries(Object.entries(metadata).filter(isKept));
  return { owner, team, ...(Object.keys(others).length > 0 && { metadata: others }) };
}

/** What cannot stand in a file is left out, and then it is not compared. */
function isWritable(label: string): boolean {
  return !/\p{Cc}|\{name\}|\{n\}/u.test(label) && secretsIn(label).length === 0;
}
