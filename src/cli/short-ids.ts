import { notSent, usage } from '../core/errors.ts';
import { cannotConfirm, declined } from '../writes/guard.ts';
import type { Context } from './context.ts';
import { KINDS, type Kind, type KnownId, knownIds } from './known-ids.ts';
import type { Command } from './parsing/declaration.ts';
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
  readonly found: KnownId;
}

/**
 * The input with whole ids. Throws `usage` where several fit, `not_found` where none does, `not_confirmed` where a change by a
 * short id was declined or nobody could be asked.
 */
export async function withWholeIds(line: Line): Promise<Input> {
  const typed = shortIdsIn(line);
  if (typed.length === 0) return line.input;
  const resolved: Resolved[] = [];
  if (isOfSandbox(line.command) && (await line.context.api.identity()).mode !== 'sandbox')
    throw usage('short ids are not looked up in a sandbox that was not chosen: add --sandbox, or write the whole id');
  for (const kind of new Set(typed.map(each => each.kind))) {
    const found: KnownId[] = [];
    for await (const known of knownIds(kind, line)) found.push(known);
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
  return [...command.args, ...command.flags].flatMap(({ key, field }) => {
    const kind = (Object.keys(KINDS) as Kind[]).find(each => each === field.names);
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
  // The sandbox is there to be played with.
  const effect = isOfSandbox(command) ? 'read' : command.effect;
  const meanings = resolved.map(({ word, found }) => `${word} is ${candidateText(found)}`);
  const say = () => meanings.forEach(meaning => void context.ui.notice(meaning));
  if (effect === 'read' || context.dryRun) return say();
  const isFinal = effect === 'irreversible' || effect === 'reveals-secret';
  const byDigitsAlone = isFinal && resolved.some(byDigits);
  // The question of the command itself names the card; what reveals has none where nobody can be asked.
  const asksItself = effect === 'irreversible' || (effect === 'reveals-secret' && context.ui.canAsk);
  const isAsked = byDigitsAlone || !(context.ui.yes || asksItself);
  if (!isAsked) return say();
  if (!context.ui.canAsk) {
    const meant = `${meanings.join('; ')}: ${command.path} by`;
    if (!byDigitsAlone) throw cannotConfirm(`${meant} a short id`);
    throw notSent(
      'not_confirmed',
      `${meant} the last four digits: they are not enough when nobody can be asked, even with --yes; give the whole id`,
    );
  }
  const go = await context.ui.prompts.confirm(`${meanings.join('; ')}. ${command.path}: continue?`, {
    flag: 'the whole id',
  });
  if (!go) throw declined();
}

/** The one that a word stands for. Throws `not_found` where none fits, `usage` where several do. */
function theOne({ kind, word }: ShortId, found: readonly KnownId[]): KnownId {
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
const candidateText = ({ id, facts }: KnownId) => `${id} (${facts.join(', ')})`;

/** The last four digits: only the service knows them. */
function byDigits({ kind, word }: Pick<ShortId, 'kind' | 'word'>): boolean {
  return kind === 'card' && LAST_FOUR.test(word);
}

/** Speaks to the control surface of a sandbox. */
const isOfSandbox = ({ path }: Command) => path.startsWith('sandbox ');
