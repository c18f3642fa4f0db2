/** The values of a line that Commander has read: what is missing, ids from standard input, texts to checked values. */
import { notSent, usage } from '../../core/errors.ts';
import { rowSource } from '../bulk/flags.ts';
import type { Command } from './declaration.ts';
import type { Flag } from './flag.ts';
import { countsFromNow, parseList, parseMap, parseValue, type ValueSettings } from './values.ts';

/** A line that names a command. */
export type Parsed = Readonly<ReturnType<typeof parsedLine>>;

/** What a command was given, from the options, in camel case, and the operands on its line. Its functions throw `usage`. */
export function parsedLine(
  command: Command,
  {
    argv,
    globals,
    typed,
    operands,
  }: Readonly<Record<'globals' | 'typed', Readonly<Record<string, unknown>>>> &
    Readonly<Record<'argv' | 'operands', readonly string[]>>,
) {
  const { flags } = command;
  const end = argv.indexOf('--');
  const rest = end < 0 ? [] : argv.slice(end + 1);
  const words = command.rest === undefined ? operands : operands.slice(0, operands.length - rest.length);
  /** What must be given for one operation and was not. */
  const missing = () => {
    const isOne = isSingle(command, typed, words);
    return {
      isOne,
      args: command.args.slice(words.length).filter(({ optional }) => isOne && !optional),
      flags: flags.filter(({ key, needed }) => isOne && needed && typed[key] === undefined),
    };
  };
  return {
    command,
    /** The words as typed, with those that a person was asked for. */
    argv,
    globals,
    /** What follows `--`, for commands that run another one. */
    rest,
    /** Flags as typed. */
    typed,
    /** A time was typed that counts from the present moment, such as `7d`. */
    countsFromNow: flags.some(({ key, field }) => field.kind === 'time' && countsFromNow(String(typed[key]))),
    missing,
    /** Checks and converts arguments and flags; later, because time words need the clock and `-` needs stdin. */
    async values(settings: ValueSettings, readMore: () => Promise<string>): Promise<Record<string, unknown>> {
      const { isOne, args, flags: without } = missing();
      const see = `cardwright ${command.path} --help`;
      const [argument] = args;
      if (argument !== undefined) {
        const { key, many } = argument;
        const article = many ? 'one or more' : /^[aeiou]/.test(key) ? 'an' : 'a';
        throw usage(`${command.path} needs ${article} ${key}`, see);
      }
      if (without.length > 0) {
        const names = without.map(({ name, placeholder }) => `${name} ${placeholder}`.trim());
        throw usage(`${command.path} needs ${names.join(' and ')}`, see);
      }
      const read = isOne ? await readArguments(command, words, settings, readMore) : {};
      return { ...read, ...readFlags(flags, typed, settings) };
    },
  };
}

/**
 * Whether the words ask for one operation; a run of rows has its cards by itself. Throws `usage` for words that
 * belong to the other.
 */
function isSingle(
  { path, flags, runFlags }: Command,
  typed: Readonly<Record<string, unknown>>,
  words: readonly string[],
): boolean {
  if (runFlags === undefined) return true;
  const see = `cardwright ${path} --help`;
  const given = flags.filter(({ key }) => typed[key] !== undefined);
  const source = rowSource(typed);
  if (source === undefined) {
    const alone = given.find(({ key }) => Object.hasOwn(runFlags.declared, key));
    if (alone === undefined) return true;
    const sources = [
      ...(runFlags.file.includes(alone.key) ? ['--file'] : []),
      ...(runFlags.selection.includes(alone.key) ? ['--where', '--idle'] : []),
    ];
    throw usage(`${alone.name} needs ${sources.join(' or ')}`, see);
  }
  const foreign = given.find(({ key }) => !runFlags[source].includes(key))?.name ?? words[0];
  if (foreign === undefined) return false;
  if (source === 'file') {
    throw usage(`${foreign} cannot be used with --file: the values of the rows are columns of the file`, see);
  }
  const selector = typed['where'] === undefined ? '--idle' : '--where';
  throw usage(`${foreign} cannot be used with ${selector}, which chooses the cards`, see);
}

async function readArguments(
  command: Command,
  operands: readonly string[],
  settings: ValueSettings,
  readMore: () => Promise<string>,
): Promise<Record<string, unknown>> {
  const left = [...operands];
  const values: Record<string, unknown> = {};
  for (const { key, noun, field, many, optional } of command.args) {
    const typed = many ? left.splice(0) : left.splice(0, 1);
    const isIds = typed.includes('-') && field.names === 'card';
    const texts = isIds || (many && !optional) ? await withStandardInput(typed, readMore) : typed;
    if (isIds) values['fromInput'] = true;
    // An empty list on standard input is an answer: there is nothing to do.
    if (typed.length === 0) continue;
    const words = field.kind === 'integer' ? numbersIn(texts) : texts;
    const parsed = words.map(text => parseValue(`the ${noun}`, field, text, settings));
    const all = [...new Set(parsed)];
    if (!many && isIds && command.runFlags !== undefined) {
      values['ids'] = all;
      continue;
    }
    if (!many && isIds && all.length !== 1) {
      throw usage(`${command.path} takes one card, and standard input holds ${all.length} ids. Nothing was sent`);
    }
    values[key] = many ? all : parsed[0];
  }
  if (left.length > 0) {
    const taken = `${command.path} does not take ${JSON.stringify(left[0])}; a program goes after --`;
    throw usage(taken, `cardwright ${command.path} --help`);
  }
  return values;
}

/** Typed by mistake otherwise: a longer one would fill the memory. */
const LONGEST_RANGE = 1_000_000;

/** Numbers as a text lists them: `3, 7`, and `3..7` for all from 3 to 7. What is none of these stays, and is refused as it was typed. */
function numbersIn(texts: readonly string[]): readonly string[] {
  const parts = texts.flatMap(text => text.split(',')).filter(part => part !== '');
  return parts.length > 0 ? parts.flatMap(rangeIn) : texts;
}

function rangeIn(text: string): string[] {
  const [, first, last] = /^(\d{1,8})\.\.(\d{1,8})$/.exec(text) ?? [];
  const count = Number(last) - Number(first) + 1;
  if (!(count >= 1 && count <= LONGEST_RANGE)) return [text];
  return Array.from({ length: count }, (_, index) => String(Number(first) + index));
}

/** `-` among the ids stands for the lines of standard input. */
async function withStandardInput(texts: string[], readMore: () => Promise<string>): Promise<string[]> {
  const at = texts.indexOf('-');
  if (at < 0) return texts;
  const lines = (await readMore()).split(/\r?\n/).map(line => line.trim());
  return [...texts.slice(0, at), ...idsIn(lines), ...texts.slice(at + 1).filter(text => text !== '-')];
}

/** Names of a column as the header of a CSV has them. */
const HEADERS = new Set(['id', 'card_id', 'op']);

/**
 * One id a line. A line of a table also names other things, in a label for example, and what is terminated by mistake stays
 * terminated: such an input is refused as a whole.
 */
function* idsIn(lines: readonly string[]): Iterable<string> {
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const is = /[\s,;]/.test(line)
      ? 'holds more than one id'
      : HEADERS.has(line.toLowerCase())
        ? 'is a header'
        : undefined;
    if (is === undefined) yield line;
    else
      throw notSent('usage', `standard input, line ${index + 1} ${is}. Nothing was sent`, {
        notes: [
          'A list of ids has one id a line, as -o id prints it.',
          'A table goes in as a file: -o csv | ... --file -',
        ],
        hint: 'cardwright help scripting',
      });
  }
}

function readFlags(flags: readonly Flag[], typed: Readonly<Record<string, unknown>>, settings: ValueSettings) {
  const values: Record<string, unknown> = {};
  for (const { key, name, field, repeats } of flags) {
    const value = typed[key];
    if (value === undefined) continue;
    if (field.kind === 'flag' && typeof value === 'boolean') values[key] = value;
    else if (field.kind === 'list') values[key] = parseList(name, field, value as string[], settings);
    else if (field.kind === 'map') values[key] = parseMap(name, field, value as string[]);
    else if (repeats) values[key] = (value as string[]).map(text => parseValue(name, field, text, settings));
    else values[key] = parseValue(name, field, String(value), settings);
  }
  return values;
}
