import { maybe, tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { CliError } from '../../core/errors.ts';
import { type CheckedJournal, MADE_PAST } from '../../journal/shared-ops.ts';
import type { Column } from '../../terminal/view.ts';

/** Reads a shared journal whole, and the cards of the service beside it. */
export const checkJournal = command({
  path: 'journal check',
  summary: 'Check that a shared journal is whole, and that no card was made past it',
  answers: {
    one: {
      ok: tells.yes('False with exit 15: something is in flaws.'),
      lines: tells.count('Lines of its audit log.'),
      ops: tells.count('Operations.'),
      records: tells.count('Records of them.'),
      cards: tells.count('Cards of the service that an operation has marked.'),
      accepted_databases: tells.count('How often an admin has accepted the database, or ended a freeze.'),
      flaws: tells.rows(
        {
          what: tells.word('Where it is.', ['chain', 'op', 'intent', 'day', 'card']),
          op: maybe(tells.text('Operation.')),
          card: maybe(tells.text('Card.')),
          line: maybe(tells.count('Line of the audit log.')),
          text: tells.text('What is wrong.'),
          sql: maybe(
            tells.text(
              'What an admin runs in the database: of two operations with one name, when both are right; of damaged records, when it is known what they were; of a card, when it was looked at.',
            ),
          ),
        },
        'What cannot be so; empty for a journal that is whole.',
      ),
      clashes: tells.rows(
        {
          op: tells.text('Operation.'),
          intent: tells.text('Its name.'),
          belongs_to: tells.text('The operation that the name belongs to.'),
          by: tells.text('Role that has accepted it.'),
          at: tells.text('When, ISO 8601 UTC.'),
          why: tells.text('Why.'),
        },
        'Names of one operation that belong to another one, where somebody has said that both are right. No flaws.',
      ),
      accepted_cards: tells.rows(
        {
          card: tells.text('Card.'),
          text: tells.text('What would be wrong with it.'),
          by: tells.text('Role that has accepted it.'),
          at: tells.text('When, ISO 8601 UTC.'),
          why: tells.text('Why.'),
        },
        'Cards of which somebody has said that they are known. No flaws.',
      ),
    },
  },
  about: [
    'Follows the audit log from its first line to its last, and compares it with what this machine has seen. Reads the records of every operation, their digests, what is counted of them, what is spent and held of each day, and the names of --intent. Nothing is changed.',
    'Then it reads all cards: one whose mark names an operation that is not in the journal was made by somebody who works past it, with another journal or with none that is shared. Cards that are older than the account in the journal are passed over. A card is named as well when the row of its mark is recorded as not done, or as done with another card, and when several rows say to have made it.',
  ],
  ends: { guarded: 'The journal cannot be reached, or refuses the role.', check_failed: 'Something is wrong.' },
  examples: [
    { does: 'Every night', run: 'journal check' },
    { does: 'As data', run: 'journal check --json' },
  ],
  async run(ctx) {
    const { flaws, clashes, acceptedCards, accepted: databases, ...counts } = await (await ctx.journal()).check();
    const accepted = clashes.map(({ belongsTo, op, intent, ...who }) => ({
      op,
      intent,
      belongs_to: belongsTo,
      ...who,
    }));
    const cards = acceptedCards.map(({ card, text, by, at, why }) => ({ card, text, by, at, why }));
    return {
      ok: flaws.length === 0,
      ...counts,
      accepted_databases: databases,
      flaws,
      clashes: accepted,
      accepted_cards: cards,
    };
  },
  show: ({ ok, flaws, clashes, accepted_cards, ...counts }) => ({
    data: { ok, ...counts, flaws, clashes, accepted_cards },
    noun: 'check',
    columns: COUNTS,
    linesBelow: [
      ...toldOf(flaws.map(textOf)).map(text => ['flaw', text] as const),
      ...toldOf(clashes.map(clashText)).map(text => ['clash', text] as const),
      ...toldOf(accepted_cards.map(cardText)).map(text => ['card', text] as const),
    ],
    quiet: flaws.flatMap(({ op, card }) => card ?? op ?? []),
    blocks: [
      { kind: 'line', text: ok ? `Whole: ${countsOf(counts)}.` : `Not whole: ${countsOf(counts)}.` },
      ...toldOf(flaws.map(textOf)).map(text => ({ kind: 'line', text }) as const),
    ],
    notes: [...toldOf(clashes.map(clashText)), ...toldOf(accepted_cards.map(cardText))].map(text => `note: ${text}`),
    ...(!ok && { failure: notWhole(flaws, counts.accepted_databases > 0) }),
  }),
});

const COUNTS: readonly Column[] = [
  { field: 'ok', title: 'OK', kind: 'boolean', priority: 1 },
  { field: 'lines', title: 'LINES', kind: 'integer', priority: 1 },
  { field: 'ops', title: 'OPERATIONS', kind: 'integer', priority: 1 },
  { field: 'records', title: 'RECORDS', kind: 'integer', priority: 1 },
  { field: 'cards', title: 'CARDS', kind: 'integer', priority: 1 },
];

/** Lines of it in words; all of them are in the document. */
const MOST_TOLD = 10;

function toldOf(texts: readonly string[]): readonly string[] {
  const more = texts.length - MOST_TOLD;
  return more <= 0 ? texts : [...texts.slice(0, MOST_TOLD), `${more} more: cardwright journal check --json`];
}

function textOf({ what, op, card, text }: CheckedJournal['flaws'][number]): string {
  const where = card ?? op;
  return where === undefined ? `${what}: ${text}` : `${what} ${where}: ${text}`;
}

function clashText({ op, intent, belongs_to, by, at, why }: AcceptedClashRow): string {
  return `the intent ${intent} of ${op} belongs to ${belongs_to}; ${by} has accepted both at ${at}: ${why}`;
}

function cardText({ card, text, by, at, why }: CheckedJournal['acceptedCards'][number]): string {
  return `${card} was ${text}; ${by} has accepted it at ${at}: ${why}`;
}

type AcceptedClashRow = Omit<CheckedJournal['clashes'][number], 'belongsTo'> & { readonly belongs_to: string };

function countsOf({ lines, ops, records, cards }: Pick<CheckedJournal, 'lines' | 'ops' | 'records' | 'cards'>): string {
  const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;
  return `${counted(lines, 'line')}, ${counted(ops, 'operation')} with ${counted(records, 'record')}, ${counted(cards, 'marked card')}`;
}

/** `isAccepted`: a machine may have been left out of the journal since. */
function notWhole(flaws: CheckedJournal['flaws'], isAccepted: boolean): CliError {
  const [first] = flaws;
  const are = (one: string, many: string) => (flaws.length === 1 ? one : `${flaws.length} ${many}`);
  if (flaws.every(({ what }) => what === 'card')) {
    const past = flaws.filter(({ text }) => text === MADE_PAST);
    const others = `${are('one card is', 'cards are')} not what the shared journal says of ${flaws.length === 1 ? 'it' : 'them'}`;
    return new CliError('check_failed', {
      message:
        past.length === flaws.length ? `${are('one card was', 'cards were')} made past the shared journal` : others,
      notes: [
        ...(past.length > 0 ? [isAccepted ? LEFT_OUT : BESIDE, 'Each card keeps its mark in metadata.'] : []),
        ...(past.length < flaws.length ? [BY_HAND] : []),
        ...waysOut(flaws),
      ],
      hint: `cardwright cards get ${first?.card}`,
    });
  }
  if (flaws.every(({ what, sql }) => what === 'intent' && sql !== undefined)) {
    const ops = new Set(flaws.map(({ op }) => op)).size;
    const names = flaws.length === 1 ? 'a name that belongs' : `${flaws.length} names that belong`;
    return new CliError('check_failed', {
      message: `${ops === 1 ? 'one operation has' : `${ops} operations have`} ${names} to another one`,
      notes: waysOut(flaws),
      hint: `cardwright ops show ${first?.op}`,
    });
  }
  return new CliError('check_failed', {
    message: `the shared journal is not what it was: ${are('1 flaw', 'flaws')}`,
    notes: ['Nobody should move money through it until an admin has looked.', ...waysOut(flaws)],
    hint: first?.card === undefined ? 'cardwright journal status' : `cardwright cards get ${first.card}`,
  });
}

const BESIDE = 'Somebody works beside the journal: caps and names do not hold for him.';
const BY_HAND =
  'A row that was recorded otherwise than it was may have been bought twice, or its name shows the wrong card: cardwright ops show of each operation says who has recorded what.';
const LEFT_OUT =
  'An admin has accepted the database after it was restored or failed over, or has ended a freeze. A card of before may be of a machine that was left out then: look at it before anybody makes the purchase again. Where neither is so, somebody works beside the journal, and caps and names do not hold for him.';

/** What an admin does about each kind of flaw when somebody has looked; there is nothing to do about the others. */
const WAYS_OUT = [
  [
    'op',
    'When it is known at the service what an operation has done, an admin of the journal sets it aside in the database; false in place of true where nothing was done:',
  ],
  [
    'intent',
    'The same purchase may have been made twice: look at both operations. Where both are right, an admin of the journal records that in the database, and it is a note from then on:',
  ],
  [
    'card',
    'Where it is known who made a card and why, an admin of the journal records that in the database, and it is a note from then on:',
  ],
] as const;

function waysOut(flaws: CheckedJournal['flaws']): readonly string[] {
  return WAYS_OUT.flatMap(([kind, words]) => {
    const ways = new Set(flaws.flatMap(({ what, sql }) => (what === kind && sql !== undefined ? sql : [])));
    return ways.size === 0 ? [] : [words, ...[...ways].slice(0, MOST_TOLD)];
  });
}
