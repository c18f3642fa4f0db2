import { allOf, CONDITIONS } from '../../cli/condition.ts';
import type { Context } from '../../cli/context.ts';
import { countOf, pagesWithProgress } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, option, optionalArgument, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import { quote } from '../../cli/parsing/values.ts';
import type { Item } from '../../contract/calls.ts';
import { CARD, CARD_ID } from '../../contract/card.ts';
import { fromWholeList } from '../../contract/whole-list.ts';
import { notSent, usage } from '../../core/errors.ts';
import { cents } from '../../core/money.ts';
import { differencesOf, MARKER_KEY, type ObservedCard, observedCard } from '../../fleet/account.ts';
import {
  type Fleet,
  isName,
  isSecretName,
  LONGEST_FLEET,
  LONGEST_NAME,
  markText,
  secretsIn,
  type Wish,
} from '../../fleet/fleet-file.ts';
import { entryText, type NewEntry, nameFor, starterText, withEntries } from '../../fleet/insert.ts';
import { parsedFleet, USUAL_FILE } from './file.ts';

const USUAL_FLEET = 'cards';

export const importFleet = command({
  path: 'fleet import',
  summary: 'Adopt cards that are there into a fleet file',
  reach: 'service',
  answers: {
    one: {
      file: tells.text('What the file is called.'),
      made: tells.yes('Whether the file is new.'),
      imported: tells.rows(
        {
          name: tells.text('Its name in the file.'),
          card: tells.text('The card.'),
          line: tells.text('What was written.'),
        },
        'Cards that were adopted.',
      ),
      left_out: tells.rows(
        { card: tells.text('The card.'), why: tells.text('Why.'), name: orNull(tells.text('Its name in the file.')) },
        'Cards that were found and not adopted.',
      ),
    },
  },
  ends: {
    guarded: 'The file cannot be changed as it stands.',
    check_failed: 'The card is of another fleet.',
  },
  about: [
    'Text is inserted at the end of cards, and no other byte of the file changes. What is written is what was seen, so that the next plan is empty. Nothing is sent but reads: a card is adopted by its id, which stands in the file.',
    'A card with the marker of this fleet gets no id, so that a lost file can be written anew from the account. A new file spends nothing until caps.per_apply is raised.',
  ],
  args: {
    file: optionalArgument(local('file', `Fleet in YAML; ${USUAL_FILE} when left out. Made where there is none.`)),
  },
  flags: {
    card: option({ ...CARD_ID, doc: 'The card to adopt.', must: false }, '<card>'),
    name: option(takes.text('With --card: its name in the file; made from its label when left out.')),
    where: CONDITIONS,
    none: option(takes.flag('Only make a new file, with comments.')),
    fleet: option(
      takes.text(`Name of the fleet of a new file; ${USUAL_FLEET} when left out.`, { names: 'fleet' }),
      '<name>',
    ),
  },
  examples: [
    { does: 'A new file', run: 'fleet import new.yaml --none --fleet ads' },
    { does: 'Adopt one card', run: 'fleet import new.yaml --card card_1 --name hosting' },
    { does: 'Adopt every active card', run: 'fleet import new.yaml --where status=active' },
  ],
  async run(ctx, { file = USUAL_FILE, card, name, where, none, fleet = USUAL_FLEET }) {
    const ways = [card !== undefined, where !== undefined, none === true].filter(Boolean).length;
    if (ways !== 1)
      throw usage('fleet import needs one of --card, --where and --none', 'cardwright fleet import --help');
    if (name !== undefined && card === undefined) throw usage('--name goes with --card');
    if (name !== undefined && !isName(name, LONGEST_NAME))
      throw usage(`--name ${quote(name)}: lower-case letters, digits, -`);
    if (!isName(fleet, LONGEST_FLEET)) throw usage(`--fleet ${quote(fleet)}: lower-case letters, digits, -`);
    const before = await ctx.files.textOf(file);
    if (none && before !== undefined) throw usage(`${file} is there already, and is not overwritten`);
    // Faults of a file that is there are told before anything is asked.
    const there = before === undefined ? undefined : await parsedFleet(ctx, before, file);
    const found = none ? [] : await cardsToAdopt(ctx, card, where);
    const start = before ?? starterText(fleet, found.length);
    const parsed = there ?? (await parsedFleet(ctx, start, file));
    const chosen = chosenOf(parsed, found, { name, isOne: card !== undefined });
    const next = withEntries(
      start,
      parsed.root,
      chosen.entries.map(({ entry }) => entry),
    );
    checkResult(await parsedFleet(ctx, next, file), chosen);
    const isNew = before === undefined;
    if (!ctx.dryRun && (isNew || chosen.entries.length > 0)) await ctx.files.changeText(file, before, next);
    return { file, isNew, chosen, isDry: ctx.dryRun };
  },
  show({ file, isNew, chosen, isDry }) {
    const imported = chosen.entries.map(({ entry, card }) => ({
      name: entry.name,
      card: card.id,
      line: entryText(entry),
    }));
    const made = isNew ? `${file} is new. ` : '';
    const count = countOf(imported.length, 'card');
    const lines = [
      ...imported.map(({ line }) => `  ${line}`),
      `${isDry ? 'Dry run, nothing was written: ' : made}${count} adopted into ${file}.`,
      ...chosen.leftOut.map(({ card, why }) => `${card} ${why}`),
    ];
    return {
      data: { file, made: isNew, imported, left_out: chosen.leftOut },
      noun: 'card',
      columns: [],
      prose: `${lines.join('\n')}\n`,
      notes: isDry ? [] : [`cardwright fleet plan ${file}`],
    };
  },
});

type Card = Item<'cards.list'>;

async function cardsToAdopt(
  ctx: Context,
  card: string | undefined,
  where: readonly string[] = [],
): Promise<readonly ObservedCard[]> {
  const found: Card[] = [];
  if (card !== undefined) found.push((await ctx.api.read('cards.get', { card_id: card })) as Card);
  else {
    const test = allOf(where, { shape: CARD, flag: '--where', now: () => ctx.api.serviceNow() });
    const because = 'A card that meets the conditions could be missing';
    const list = {
      reader: await ctx.api.reader(),
      operation: 'cards.list',
      input: { per_page: 100 },
      because,
    } as const;
    const met = await fromWholeList(list, async pages => {
      const cards: Card[] = [];
      for await (const { data } of pagesWithProgress(pages, { noun: 'card', progress: ctx.ui.progress })) {
        for (const each of data) if (test(each)) cards.push(each);
      }
      return cards;
    });
    found.push(...met);
  }
  return found.map(each => {
    const seen = observedCard(each);
    if (seen !== undefined) return seen;
    throw notSent('contract_mismatch', `the balance of ${each.id} is not an amount`);
  });
}

interface Chosen {
  readonly entries: readonly { readonly entry: NewEntry; readonly card: ObservedCard }[];
  readonly leftOut: readonly { readonly card: string; readonly why: string; readonly name: string | null }[];
}

/**
 * Oldest first, so that two runs over the same cards give the same names. `isOne`: one card was named, and what speaks
 * against it is an error, and no remark.
 */
function chosenOf(
  fleet: Fleet,
  cards: readonly ObservedCard[],
  { name: asked, isOne }: { name: string | undefined; isOne: boolean },
): Chosen {
  const taken = new Set(fleet.wishes.map(({ name }) => name));
  const byPin = new Map(fleet.wishes.flatMap(({ pin, name }) => (pin === undefined ? [] : [[pin, name] as const])));
  const entries: Chosen['entries'][number][] = [];
  const leftOut: Chosen['leftOut'][number][] = [];
  const order = (a: ObservedCard, b: ObservedCard) =>
    a.createdAt === b.createdAt ? (a.id < b.id ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1;
  for (const card of [...cards].sort(order)) {
    const why = whyNot(fleet, card, byPin);
    if (why !== undefined) {
      if (isOne) throw notSent(why.kind, `${card.id} ${why.text}; nothing was changed`);
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
    entries.push({ entry: entryOf(fleet, card, name), card });
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
function entryOf(fleet: Fleet, card: ObservedCard, name: string): NewEntry {
  const { label, limit, categories = [], autoFreezeAt = null, status } = card;
  const says = fleet.defaultFields;
  return {
    name,
    card: isMarked(fleet, card) ? undefined : card.id,
    ...(isMarked(fleet, card) && !says.has('amount') && { amount: cents(2_500) }),
    ...(label !== '' && isWritable(label) && { label }),
    ...(limit !== undefined && { limit }),
    ...((categories.length > 0 || says.has('categories')) && { categories }),
    ...((autoFreezeAt !== null || says.has('auto_freeze_at')) && { autoFreezeAt }),
    ...seenMetadata(card),
    ...((status === 'frozen' || says.has('state')) && { state: status === 'frozen' ? 'frozen' : 'active' }),
  };
}

/** Owner, team and metadata that were seen, without the marker: a file that was lost gets them back. */
function seenMetadata({ metadata = {} }: ObservedCard): Pick<NewEntry, 'owner' | 'team' | 'metadata'> {
  const isKept = ([key, value]: readonly [string, string]) =>
    key !== MARKER_KEY && /^[a-z][a-z0-9_-]*$/i.test(key) && value !== '' && isWritable(value) && !isSecretName(key);
  const { owner, team, ...others } = Object.fromEntries(Object.entries(metadata).filter(isKept));
  return { owner, team, metadata: others };
}

/** What cannot stand in a file is left out, and then it is not compared. */
function isWritable(label: string): boolean {
  return !/\p{Cc}|\{name\}|\{n\}/u.test(label) && secretsIn(label).length === 0;
}

/** Throws `usage` where a card would differ from its own line, because of the defaults of the file. */
function checkResult({ wishes }: Fleet, { entries }: Chosen): void {
  const byName = new Map(wishes.map(wish => [wish.name, wish]));
  for (const { entry, card } of entries) {
    const wish = byName.get(entry.name) as Wish;
    const [first] = differencesOf({ ...wish, bin: { by: 'auto' } }, card, []).filter(each => each.class === 'fixed');
    if (first === undefined) continue;
    throw usage(
      `${card.id} cannot be written as it is: its ${first.field} is ${JSON.stringify(first.is)}, and the file would say ${JSON.stringify(first.wanted)}. Nothing was changed; take the field out of the defaults of the file`,
    );
  }
}
