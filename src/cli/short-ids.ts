/**
 * Ids as people copy them: the short form of a table, which ends with … or ..., and the last four digits of a card. Such a word
 * is no whole id, so it is looked up in all pages of the list before the command runs. Every other word is a whole id.
 */
import type { Effect } from '../contract/operation.ts';
import { incompleteList } from '../contract/whole-list.ts';
import { notSent, usage } from '../core/errors.ts';
import { dollars, toCents } from '../core/money.ts';
import { typedCommand } from '../core/shell-quote.ts';
import { cannotConfirm, declined } from '../writes/guard.ts';
import type { Context } from './context.ts';
import type { Command } from './parsing/command.ts';
import { effectOf, flagsOf } from './parsing/globals.ts';
import { quote, SHORT_MARK } from './parsing/values.ts';

/** What `help output` says of reading short ids, and `help safety` of changing by them. */
export const SHORT_IDS_READ =
  'A command accepts an id in a short form: its first characters with … or ... behind them, as a table shows it, also without its prefix; for a card also the last four digits. All pages are read to find it before anything else is sent, and the whole id is printed on standard error. If several ids match, that is exit 2 with a list of them. Files and standard input need whole ids. So do ids that are in no list of the service: of deposits, events, deliveries and fault rules.';
export const SHORT_IDS_CHANGE =
  'A change by a short id asks first; in a script it needs --yes, and so does a reveal. To terminate or reveal a card by its last four digits, a person must answer.';

/** What a column of its own prints, with the mark that a copied short id has. */
const LAST_FOUR = /^\d{4}(?:…|\.\.\.)?$/u;
/** The most candidates an error names. */
const MOST_NAMED = 10;

interface Line {
  readonly command: Command;
  readonly context: Context;
  readonly argv: readonly string[];
  readonly input: Input;
}

type Input = Readonly<Record<string, unknown>>;

/** A short id that a person typed. */
interface ShortId {
  readonly key: string;
  readonly kind: Kind;
  readonly word: string;
}

interface Resolved extends ShortId {
  readonly found: Candidate;
}

/**
 * The input with whole ids. Throws `usage` where several fit, `not_found` where none does, `not_confirmed` where a change by a
 * short id was declined or nobody could be asked.
 */
export async function withWholeIds(line: Line): Promise<Input> {
  const typed = shortIdsIn(line);
  if (typed.length === 0) return line.input;
  const resolved: Resolved[] = [];
  for (const kind of new Set(typed.map(each => each.kind))) {
    const found: Candidate[] = [];
    for await (const candidate of candidates(line, kind)) found.push(candidate);
    for (const each of typed) if (each.kind === kind) resolved.push({ ...each, found: theOne(each, found) });
  }
  await agree(line, resolved);
  const idOf = (key: string, word: unknown) =>
    resolved.find(each => each.key === key && each.word === word)?.found.id ?? word;
  return Object.fromEntries(
    Object.entries(line.input).map(([key, value]) => [
      key,
      Array.isArray(value) && resolved.some(each => each.key === key)
        ? [...new Set(value.map(word => idOf(key, word)))]
        : idOf(key, value),
    ]),
  );
}

/** Those that were typed on the line itself: what a file or a pipe holds is whole. */
function shortIdsIn({ command, argv, input }: Line): readonly ShortId[] {
  const isTyped = (word: string) => argv.some(each => each === word || each.endsWith(`=${word}`));
  const named = [
    ...Object.entries(command.args).map(([key, { field }]) => ({ key, names: field.names })),
    ...flagsOf(command).map(({ key, field }) => ({ key, names: field.names })),
  ];
  return named.flatMap(({ key, names }) => {
    const kind = (Object.keys(KINDS) as Kind[]).find(each => each === names);
    if (kind === undefined) return [];
    const words = [input[key]].flat().filter(word => typeof word === 'string');
    return words
      .filter(word => isTyped(word) && (SHORT_MARK.test(word) || byDigits({ kind, word })))
      .map(word => ({ key, kind, word }));
  });
}

/** Says what each short id stands for. A change by one is asked about; what cannot be undone, by four digits, always. */
async function agree(line: Line, resolved: readonly Resolved[]): Promise<void> {
  const { command, context } = line;
  const effect = askedEffect(command);
  const meanings = resolved.map(({ word, found }) => `${word} is ${candidateText(found)}`);
  const say = () => {
    for (const meaning of meanings) context.ui.notice(meaning);
  };
  if (effect === 'read' || context.dryRun) return say();
  const isFinal = effect === 'irreversible' || effect === 'reveals-secret';
  const byDigitsAlone = isFinal && resolved.some(byDigits);
  // The question of the command itself names the card; what reveals has none where nobody can be asked.
  const asksItself = effect === 'irreversible' || (effect === 'reveals-secret' && context.ui.canAsk);
  const isAsked = byDigitsAlone || !(context.ui.yes || asksItself);
  if (!isAsked) return say();
  if (!context.ui.canAsk) {
    const meant = `${meanings.join('; ')}: ${command.path} by`;
    if (!byDigitsAlone) throw cannotConfirm(`${meant} a short id`, wholeCommand(line, resolved));
    throw notSent(
      'not_confirmed',
      `${meant} the last four digits: they are not enough when nobody can be asked, even with --yes`,
      wholeCommand(line, resolved),
    );
  }
  const go = await context.ui.prompts.confirm(`${meanings.join('; ')}. ${command.path}: continue?`, {
    flag: 'the whole id',
  });
  if (!go) throw declined();
}

/** What a command may do to a service that counts; the sandbox is there to be played with. */
function askedEffect(command: Command): Effect {
  return isOfSandbox(command) ? 'read' : effectOf(command);
}

/** The typed command with whole ids. */
function wholeCommand({ argv }: Line, resolved: readonly Resolved[]): string {
  const words = argv.map(each => {
    const match = resolved.find(({ word }) => each === word || each.endsWith(`=${word}`));
    return match === undefined ? each : `${each.slice(0, each.length - match.word.length)}${match.found.id}`;
  });
  return typedCommand(words);
}

/** The one that a word stands for. Throws `not_found` where none fits, `usage` where several do. */
function theOne({ kind, word }: ShortId, found: readonly Candidate[]): Candidate {
  const written = word.replace(SHORT_MARK, '');
  const isDigits = byDigits({ kind, word });
  const fitting = found.filter(
    ({ id, last4 }) =>
      (isDigits && last4 === written) ||
      // Also the part behind the prefix.
      (SHORT_MARK.test(word) && [id, id.slice(id.lastIndexOf('_') + 1)].some(part => part.startsWith(written))),
  );
  const [first] = fitting;
  if (first !== undefined && fitting.length === 1) return first;
  const { noun, list } = KINDS[kind];
  if (first === undefined) {
    const begins = `has an id that begins with ${quote(written)}`;
    const wanted = [isDigits && `ends in ${written}`, SHORT_MARK.test(word) && begins].filter(Boolean).join(' or ');
    throw notSent('not_found', `no ${noun} ${wanted}`, list);
  }
  const more = fitting.length > MOST_NAMED ? [`and ${fitting.length - MOST_NAMED} more`] : [];
  throw notSent(
    'usage',
    `${quote(word)} fits ${fitting.length} ${noun}s: ${isDigits ? 'give the id of one' : 'write more characters of the id'}`,
    {
      notes: [...fitting.slice(0, MOST_NAMED).map(candidateText), ...more],
      hint: list,
    },
  );
}

/** An id with what helps to recognise it. */
function candidateText({ id, facts }: Candidate): string {
  return `${id} (${facts})`;
}

/** The last four digits: only the service knows them. */
function byDigits({ kind, word }: Pick<ShortId, 'kind' | 'word'>): boolean {
  return kind === 'card' && LAST_FOUR.test(word);
}

/** Kinds of ids that can be looked up: what one is, and the command that shows the whole ids. */
const KINDS = {
  card: { noun: 'card', list: 'cardwright cards list --all' },
  bin: { noun: 'BIN', list: 'cardwright bins list' },
  webhook: { noun: 'subscription', list: 'cardwright webhooks list' },
  op: { noun: 'operation', list: 'cardwright ops list' },
  transaction: { noun: 'transaction', list: 'cardwright tx list --all' },
  challenge: { noun: 'challenge', list: 'cardwright 3ds list' },
  pending: { noun: 'authorization or challenge', list: 'cardwright 3ds list' },
} as const;
type Kind = keyof typeof KINDS;

interface Candidate {
  readonly id: string;
  readonly last4?: string;
  /** What tells it from others: `visa ending 4242, active, $20.00, "ads"`. */
  readonly facts: string;
}

/**
 * Every id of the kind, over all pages; of cards from what the command itself reads, the service or the mirror. Throws `usage`
 * for a sandbox that was not chosen, `contract_mismatch` at the end of a list of cards that may be incomplete.
 */
async function* candidates({ command, context: ctx }: Line, kind: Kind): AsyncIterable<Candidate> {
  if (isOfSandbox(command) && (await ctx.api.identity()).mode !== 'sandbox') {
    throw usage('short ids are not looked up in a sandbox that was not chosen: add --sandbox, or write the whole id');
  }
  switch (kind) {
    case 'card': {
      if (command.reach !== 'files' || command.path.startsWith('audit ')) return yield* cards(await ctx.api.reader());
      using copy = await (await ctx.api.mirror()).read();
      return yield* cards(copy.reader);
    }
    case 'bin':
      for (const { id, network, type } of (await ctx.api.read('bins.list', {})).data)
        yield { id, facts: facts([network, type]) };
      return;
    case 'webhook':
      for (const { id, url, status } of (await ctx.api.read('webhooks.list', {})).data)
        yield { id, facts: facts([url, status]) };
      return;
    case 'transaction':
      return yield* transactions(ctx);
    case 'challenge':
      return yield* challenges(ctx);
    case 'pending':
      yield* challenges(ctx);
      return yield* transactions(ctx, 'authorization');
    case 'op':
      for (const { op, command, state } of await (await ctx.journal.open()).list())
        yield { id: op, facts: facts([command, state]) };
  }
}

async function* cards(reader: Awaited<ReturnType<Context['api']['reader']>>): AsyncIterable<Candidate> {
  let incomplete: string | undefined;
  const onIncomplete = (why: string) => {
    incomplete = why;
  };
  for await (const { data } of reader.pages('cards.list', { per_page: 100 }, { onIncomplete })) {
    for (const { id, last4, network, status, balance, label } of data) {
      const name = `${network ?? 'card'} ending ${last4}`;
      yield { id, last4, facts: facts([name, status, dollars(toCents(balance)), label && JSON.stringify(label)]) };
    }
  }
  if (incomplete !== undefined) throw incompleteList('cards.list', `${incomplete}. A short id could mean another card`);
}

async function* transactions(ctx: Context, type?: 'authorization'): AsyncIterable<Candidate> {
  for await (const { data } of (await ctx.api.reader()).pages('transactions.list', { type })) {
    for (const { id, merchant, amount } of data) yield { id, facts: facts([merchant, dollars(toCents(amount))]) };
  }
}

async function* challenges(ctx: Context): AsyncIterable<Candidate> {
  for (const { id, merchant, amount, status } of (await ctx.api.read('challenges.list', {})).data) {
    yield { id, facts: facts([merchant, amount == null ? undefined : dollars(toCents(amount)), status]) };
  }
}

function facts(values: readonly (string | null | undefined)[]): string {
  return values.filter(Boolean).join(', ');
}

/** Speaks to the control surface of a sandbox. */
function isOfSandbox({ path }: Command): boolean {
  return path.startsWith('sandbox ');
}
