/**
 * Ids as people write them: a beginning that only one id has, the short form of a table (`card_4akk2c…`), and the last
 * four digits of a card. What is written is tried as an exact id first; only where there is no such id, or where the
 * word cannot be one, the ids of the account are read, over all pages.
 */

import type { Effect } from '../contract/operation.ts';
import { CliError } from '../core/errors.ts';
import { typedCommand } from '../core/same-command.ts';
import type { Listing, Row } from '../terminal/view.ts';
import { cannotConfirm, declined } from '../writes/question.ts';
import { rowSource } from './bulk/flags.ts';
import type { Context } from './context.ts';
import { type Candidate, candidates, isOfSandbox, KINDS, type Kind } from './id-candidates.ts';
import type { Command } from './parsing/command.ts';
import { effectOf, flagsOf } from './parsing/resolved-flags.ts';
import { quote } from './parsing/values.ts';
import { byDigits, candidateText, fits, isShortened, LISTS, type Typed, theOne } from './short-id-match.ts';
import type { Shown } from './shown.ts';

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
  if (line.context.dryRun) for (const { word } of others) if (LOOKS_CUT.test(word)) line.context.notice(asTyped(word));
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
  const absent = await context.read('cards.get', { card_id: word }).then(
    () => false,
    (thrown: unknown) => unread(thrown) && saysAbsent(thrown, kind),
  );
  if (absent) throw new CliError('not_found', { message: `there is no card ${quote(word)}`, hint: LISTS.card });
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

function asTyped(word: string): string {
  return `note: ${word} is shown as typed: a dry run does not look it up. If it is only the beginning of an id, the command itself finds the whole one, and so does this dry run for ${word}…`;
}

/** Ids of kinds that can be looked up, typed on the line itself: what a file or a pipe holds is whole. */
function typedIds({ command, argv, input }: Line): readonly Typed[] {
  const isTyped = (word: string) => argv.some(each => each === word || each.endsWith(`=${word}`));
  const named = [
    ...Object.entries(command.args).map(([key, { field }]) => ({ key, names: field.names, isOperand: true })),
    ...flagsOf(command).map(({ key, field }) => ({ key, names: field.names, isOperand: false })),
  ];
  return named.flatMap(({ key, names, isOperand }) => {
    const kind = KINDS.find(each => each === names);
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
  for (const kind of KINDS) {
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
    for await (const candidate of candidates({ ...line, kind, isMarked: words.some(isShortened) })) {
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

/** The same for words that were no ids; undefined where no id begins so, or the id is there after all. */
async function resolveBeginning(line: Line, typed: readonly Typed[]): Promise<readonly Resolved[] | undefined> {
  const resolved: Resolved[] = [];
  for (const each of typed) {
    const found = await beginningWith(line, each).catch(unread);
    if (found.length === 0) return undefined;
    resolved.push({ ...each, found: theOne(each, found) });
  }
  return resolved;
}

/**
 * Those whose id begins with the word. None as soon as a word as long as an id is seen to be one that is not there: a
 * mistyped id ends with the first page, and where ids differ in length, `card_1` is none of `card_10`.
 */
async function beginningWith(line: Line, typed: Typed): Promise<readonly Candidate[]> {
  const { kind, word } = typed;
  const found: Candidate[] = [];
  for await (const candidate of candidates({ ...line, kind, isMarked: isShortened(typed) })) {
    if (candidate.id.length <= word.length) return [];
    if (fits(candidate, word)) found.push(candidate);
  }
  return found;
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
    for (const meaning of meanings) context.notice(meaning);
  };
  if (effect === 'read' || context.dryRun) return say();
  const isFinal = effect === 'irreversible' || effect === 'reveals-secret';
  const byDigitsAlone = isFinal && resolved.some(byDigits);
  // The question of the command itself names the card; what reveals has none where nobody can be asked.
  const asksItself = effect === 'irreversible' || (effect === 'reveals-secret' && context.canAsk);
  const isAsked = byDigitsAlone || !(context.yes || asksItself);
  if (!isAsked) return say();
  if (!context.canAsk) {
    const meant = `${meanings.join('; ')}: ${command.path} by`;
    if (!byDigitsAlone) throw cannotConfirm(`${meant} a short id`, wholeCommand(line, resolved));
    throw new CliError('not_confirmed', {
      message: `${meant} the last four digits: they are not enough when nobody can be asked, even with --yes`,
      hint: wholeCommand(line, resolved),
      outcome: 'not_sent',
    });
  }
  const go = await context.prompts.confirm(`${meanings.join('; ')}. ${command.path}: continue?`, {
    flag: 'the whole id',
  });
  if (!go) throw declined();
}

/** What a command may do to a service that counts; the sandbox is there to be played with. */
function askedEffect(command: Command): Effect {
  return isOfSandbox(command) ? 'read' : effectOf(command);
}

/** The same command with whole ids. */
function wholeCommand({ argv }: Line, resolved: readonly Resolved[]): string {
  const words = argv.map(each => {
    const match = resolved.find(({ word }) => each === word || each.endsWith(`=${word}`));
    return match === undefined ? each : `${each.slice(0, each.length - match.word.length)}${match.found.id}`;
  });
  return typedCommand(words);
}
