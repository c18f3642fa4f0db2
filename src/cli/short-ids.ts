/**
 * Ids as people write them: a beginning that only one id has, the short form of a table (`card_4akk2c…`), and the last
 * four digits of a card. What is written is tried as an exact id first; only where there is no such id, or where the
 * word cannot be one, the ids of the account are read, over all pages.
 */
import type { Effect } from '../contract/operation.ts';
import { incompleteList } from '../contract/whole-list.ts';
import { CliError, notSent, usage } from '../core/errors.ts';
import { dollars, toCents } from '../core/money.ts';
import { typedCommand } from '../core/shell-quote.ts';
import type { Listing, Row } from '../terminal/view.ts';
import { cannotConfirm, declined } from '../writes/question.ts';
import { rowSource } from './bulk/flags.ts';
import type { Context, Shown } from './context.ts';
import type { Command } from './parsing/command.ts';
import { effectOf, flagsOf } from './parsing/globals.ts';
import { quote } from './parsing/values.ts';

/** What `help output` says of reading short ids, and `help safety` of changing by them; `withShortIds` keeps both. */
export const SHORT_IDS_READ =
  'A command accepts an id in a short form: the first characters, if only one id starts with them; the short id of a table, which ends with … or ..., also without its prefix; for a card also the last four digits. All pages are read to find it, and the whole id is printed on standard error. With several ids, and where a command waits or follows, short ids are found before anything else is sent. If several ids match, that is exit 2 with a list of them. Files and standard input need whole ids. So do ids that are in no list of the service: of deposits, events, deliveries and fault rules.';
export const SHORT_IDS_CHANGE =
  'A change by a short id asks first; in a script it needs --yes, and so does a reveal. To terminate or reveal a card by its last four digits, a person must answer.';

/** Shorter than most ids, and none that is counted: a dry run, which asks nothing, cannot tell what it is. */
const LOOKS_CUT = /^[a-z]+_(?!\d+$)[a-z0-9]{0,15}$/i;

interface Line {
  readonly command: Command;
  readonly context: Context;
  readonly argv: readonly string[];
  readonly input: Input;
}

type Input = Readonly<Record<string, unknown>>;

interface Resolved extends Typed {
  readonly found: Candidate;
}

/**
 * Runs the command with whole ids. Throws `usage` where several fit, `not_found` where none does, `not_confirmed` where
 * a change by a short id was declined or nobody could be asked.
 */
export async function withShortIds(line: Line, execute: (input: Input) => Promise<Shown>): Promise<Shown> {
  const typed = typedIds(line);
  const marked = typed.filter(isShortened);
  const unsure = unsureBefore(line.command, typed);
  const resolved = await resolve(line, marked, unsure);
  await agree(line, resolved);
  const input = replaced(line.input, resolved);
  const others = typed.filter(each => !marked.includes(each) && !unsure.includes(each));
  const isRead = askedEffect(line.command) === 'read';
  const [only] = others;
  const retry = async () => {
    const again = await resolveBeginning(line, others);
    if (again === undefined) return undefined;
    await agree(line, again);
    return execute(replaced(input, again));
  };
  if (only === undefined) return execute(input);
  if (line.context.dryRun)
    for (const { word } of others.filter(each => LOOKS_CUT.test(each.word)))
      line.context.ui.notice(
        `note: ${word} is shown as typed: a dry run does not look it up. If it is only the beginning of an id, the command itself finds the whole one, and so does this dry run for ${word}…`,
      );
  let shown: Shown;
  try {
    shown = await execute(input);
  } catch (thrown) {
    // Of several ids nobody can say which is not there, and the work on the others may be done.
    const isSingle = typed.length === 1 && rowSource(line.input) === undefined;
    const again = isSingle && saysAbsent(thrown, only.kind) ? await retry() : undefined;
    if (again === undefined) throw thrown;
    return again;
  }
  const isFilter = isRead && others.length === 1 && !only.isOperand;
  if (!isFilter || shown.listing === undefined) return shown;
  const otherwise = async () => {
    const other = await retry();
    if (other === undefined) await refuseAbsent(line, only);
    return other;
  };
  return { ...shown, listing: elseListing(shown.listing, otherwise) };
}

/** Nothing has that id, and nothing was done. Of operations the journal itself knows it. */
function saysAbsent(thrown: unknown, kind: Kind): boolean {
  if (!(thrown instanceof CliError) || thrown.facts.outcome === 'unknown') return false;
  return thrown.kind === 'not_found' || (kind === 'op' && thrown.kind === 'usage');
}

/**
 * An empty list of a mistyped card reads like a card that was never used. Throws `not_found` where the service says that
 * there is no such card; whatever else it says, the list stands, and so does one of this machine.
 */
async function refuseAbsent({ command, context }: Line, { kind, word }: Typed): Promise<void> {
  if (kind !== 'card' || command.operation === undefined) return;
  const absent = await context.api.read('cards.get', { card_id: word }).then(
    () => false,
    (thrown: unknown) => unread(thrown) && saysAbsent(thrown, kind),
  );
  if (absent) throw new CliError('not_found', { message: `there is no card ${quote(word)}`, hint: KINDS.card.list });
}

/** A filter by an id that is not there is an empty list and no error: then the other list, where there is one. */
function elseListing(listing: Listing, otherwise: () => Promise<Shown | undefined>): Listing {
  let current = listing;
  async function* orOthers(): AsyncIterable<readonly Row[]> {
    let count = 0;
    for await (const rows of listing.batches) {
      count += rows.length;
      yield rows;
    }
    const other = count > 0 ? undefined : (await otherwise())?.listing;
    if (other === undefined) return;
    current = other;
    yield* other.batches;
  }
  return {
    ...listing,
    batches: orOthers(),
    page: () => current.page(),
    ...(listing.footer && { footer: (rows: number) => current.footer?.(rows) }),
    ...(listing.cutShort && { cutShort: () => current.cutShort?.() }),
  };
}

/** Ids of kinds that can be looked up, typed on the line itself: what a file or a pipe holds is whole. */
function typedIds({ command, argv, input }: Line): readonly Typed[] {
  const isTyped = (word: string) => argv.some(each => each === word || each.endsWith(`=${word}`));
  const named = [
    ...Object.entries(command.args).map(([key, { field }]) => ({ key, names: field.names, isOperand: true })),
    ...flagsOf(command).map(({ key, field }) => ({ key, names: field.names, isOperand: false })),
  ];
  return named.flatMap(({ key, names, isOperand }) => {
    const kind = (Object.keys(KINDS) as Kind[]).find(each => each === names);
    if (kind === undefined) return [];
    const value = input[key];
    const words = (Array.isArray(value) ? value : [value]).filter(word => typeof word === 'string');
    return words.filter(isTyped).map(word => ({ key, kind, word, isOperand }));
  });
}

function replaced(input: Input, resolved: readonly Resolved[]): Input {
  const idOf = (key: string, word: unknown) =>
    resolved.find(each => each.key === key && each.word === word)?.found.id ?? word;
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      key,
      Array.isArray(value) && resolved.some(each => each.key === key)
        ? [...new Set(value.map(word => idOf(key, word)))]
        : idOf(key, value),
    ]),
  );
}

/**
 * Words that may be beginnings and are decided before the command runs. Of several operands the refusal of one would
 * come when the others are done. What a command waits for or follows has no answer that says that it is not there.
 */
function unsureBefore(command: Command, typed: readonly Typed[]): readonly Typed[] {
  const unmarked = typed.filter(each => !isShortened(each));
  const several = typed.filter(({ isOperand }) => isOperand).length > 1;
  const waits = Object.hasOwn(command.flags, 'waitTimeout');
  return unmarked.filter(({ isOperand }) => (isOperand ? several : waits));
}

/** Each marked word, and each unsure one that is shorter than every id of the list: the others are whole ids. */
async function resolve(line: Line, marked: readonly Typed[], unsure: readonly Typed[]): Promise<readonly Resolved[]> {
  const resolved: Resolved[] = [];
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const wanted = marked.filter(each => each.kind === kind);
    const maybe = unsure.filter(each => each.kind === kind);
    if (wanted.length + maybe.length === 0) continue;
    const { found, shortest } = await fittingOf(line, kind, wanted, maybe);
    const short = maybe.filter(({ word }) => word.length < shortest);
    for (const each of [...wanted, ...short]) resolved.push({ ...each, found: theOne(each, found) });
  }
  return resolved;
}

/**
 * What fits any of the words, and the length of the shortest id seen, in characters; 0 where there is none. The pages
 * end where no word can be a beginning any more.
 */
async function fittingOf(line: Line, kind: Kind, wanted: readonly Typed[], maybe: readonly Typed[]) {
  const words = [...wanted, ...maybe];
  const found: Candidate[] = [];
  let shortest = Number.POSITIVE_INFINITY;
  try {
    for await (const candidate of candidates(line, kind, words.some(isShortened))) {
      shortest = Math.min(shortest, candidate.id.length);
      if (words.some(({ word }) => fits(candidate, word))) found.push(candidate);
      if (wanted.length === 0 && maybe.every(({ word }) => word.length >= shortest)) break;
    }
  } catch (thrown) {
    if (wanted.length > 0) throw thrown;
    return { found: unread(thrown), shortest: 0 };
  }
  return { found, shortest: Number.isFinite(shortest) ? shortest : 0 };
}

/**
 * What words that were no ids are beginnings of; undefined where no id begins so, or one is as short as the word: a mistyped id
 * ends with the first page, and where ids differ in length, `card_1` is none of `card_10`.
 */
async function resolveBeginning(line: Line, typed: readonly Typed[]): Promise<readonly Resolved[] | undefined> {
  const resolved: Resolved[] = [];
  for (const each of typed) {
    const { found, shortest } = await fittingOf(line, each.kind, [], [each]);
    if (found.length === 0 || each.word.length >= shortest) return undefined;
    resolved.push({ ...each, found: theOne(each, found) });
  }
  return resolved;
}

/** What could not be read helps nobody: what the service said of the word itself counts. */
function unread(thrown: unknown): readonly Candidate[] {
  if (thrown instanceof CliError && thrown.kind !== 'interrupted' && thrown.kind !== 'terminated') return [];
  throw thrown;
}

/** Says what each short id stands for. A change by one is asked about; what cannot be undone, by four digits, always. */
async function agree(line: Line, resolved: readonly Resolved[]): Promise<void> {
  if (resolved.length === 0) return;
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

/** The most candidates an error names. */
const MOST_NAMED = 10;

const MARKS = /(?:…|\.\.\.)$/u;
/** What a column of its own prints, with the mark that a copied short id has. */
const LAST_FOUR = /^\d{4}(?:…|\.\.\.)?$/u;

/** An id in the input that a person typed. */
interface Typed {
  readonly key: string;
  readonly kind: Kind;
  readonly word: string;
  readonly isOperand: boolean;
}

/** Whether the word itself says that it is no whole id. */
function isShortened(typed: Typed): boolean {
  return MARKS.test(typed.word) || byDigits(typed);
}

/** Whether the word may stand for this one. */
function fits({ id, last4 }: Candidate, word: string): boolean {
  const written = word.replace(MARKS, '');
  if (id.startsWith(written) || (LAST_FOUR.test(word) && last4 === written)) return true;
  // The part behind the prefix, where the mark says that it was copied from a table.
  return MARKS.test(word) && written !== '' && id.slice(id.lastIndexOf('_') + 1).startsWith(written);
}

/** The one that a word stands for. Throws `not_found` where none fits, `usage` where several do. */
function theOne(typed: Typed, found: readonly Candidate[]): Candidate {
  const { kind, word } = typed;
  const fitting = found.filter(candidate => fits(candidate, word));
  const [first] = fitting;
  const exact = fitting.find(({ id }) => id === word);
  if (exact !== undefined) return exact;
  const written = word.replace(MARKS, '');
  const begins = `has an id that begins with ${quote(written)}`;
  const wanted = byDigits(typed) ? [`ends in ${written}`, ...(written === word ? [] : [begins])].join(' or ') : begins;
  const { noun, list } = KINDS[kind];
  if (first === undefined) throw notSent('not_found', `no ${noun} ${wanted}`, list);
  if (fitting.length === 1) return first;
  const more = fitting.length > MOST_NAMED ? [`and ${fitting.length - MOST_NAMED} more`] : [];
  throw notSent('usage', `${quote(word)} fits ${fitting.length} ${noun}s: write more characters of the id`, {
    notes: [...fitting.slice(0, MOST_NAMED).map(candidateText), ...more],
    hint: list,
  });
}

/** An id with what helps to recognise it. */
function candidateText({ id, facts }: Candidate): string {
  return `${id} (${facts})`;
}

/** The last four digits: only the service knows them. */
function byDigits({ kind, word }: Typed): boolean {
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
 * Every id of the kind, over all pages. One that is written short has its mark, or is last digits: those alone the audit log
 * does not know. Throws `usage` for a sandbox that was not chosen, and `contract_mismatch` at the end
 * of a list of cards that may be incomplete.
 */
async function* candidates({ command, context: ctx }: Line, kind: Kind, isMarked: boolean): AsyncIterable<Candidate> {
  if (isOfSandbox(command) && (await ctx.api.identity()).mode !== 'sandbox') {
    throw usage('short ids are not looked up in a sandbox that was not chosen: add --sandbox, or write the whole id');
  }
  switch (kind) {
    case 'card':
      return yield* cardsFor(command, ctx, isMarked);
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

/** From what the command itself reads: the service, the mirror, or the audit log, which knows no last four digits. */
async function* cardsFor(command: Command, ctx: Context, isMarked: boolean): AsyncIterable<Candidate> {
  const isOfLog = command.path.startsWith('audit ');
  if (isOfLog && !isMarked) return yield* cardsOfLog(ctx);
  if (command.reach !== 'files' || isOfLog) return yield* cards(await ctx.api.reader());
  using copy = await (await ctx.api.mirror()).read();
  yield* cards(copy.reader);
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

/** Cards that the audit log names: a word without a mark costs no request where all else is on this machine. */
async function* cardsOfLog(ctx: Context): AsyncIterable<Candidate> {
  const { entries } = await (await ctx.journal.audit()).read();
  const ids = new Set(entries.flatMap(({ card_id }) => (typeof card_id === 'string' ? [card_id] : [])));
  for (const id of ids) yield { id, facts: 'in the audit log' };
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
