/** Finds the command the words of a command line name, without parsing its options. */

import { nearest } from '../../core/nearest.ts';
import { shellWord } from '../../core/shell-quote.ts';
import { meantBelow, meantFirst, meantWords, whyAbsent } from '../synonyms.ts';
import type { Command, Group, Registry } from './command.ts';
import { GLOBALS, type GlobalOption } from './globals.ts';
import { secretRefusal } from './secret-flags.ts';
import { quote, usage } from './values.ts';

export interface Located {
  readonly group: Group | undefined;
  /** Words of every command of the group. */
  readonly paths: readonly string[];
  /** The leaf the words name, if they name one. */
  readonly command: Command | undefined;
  /** Words that lead there, `['sandbox', 'simulate']`; a group when `command` is undefined. */
  readonly words: readonly string[];
}

const VALUE_OPTIONS = new Set(
  (GLOBALS as readonly GlobalOption[])
    .filter(option => option.value !== undefined)
    .flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]),
);

/** Words of `argv` that are no options and no values of global options, up to `--`. */
export function plainWords(argv: readonly string[]): string[] {
  return plainPositions(argv).map(at => argv[at] ?? '');
}

function plainPositions(argv: readonly string[]): number[] {
  const found: number[] = [];
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (word === '--') break;
    if (word === '-' || !word.startsWith('-')) found.push(index);
    else if (VALUE_OPTIONS.has(word)) index++;
  }
  return found;
}

/** `help cards fund` is `cards fund --help`, `help` alone the root help; `help exit-codes` is a command of its own. */
export async function asHelp(
  argv: readonly string[],
  registry: Registry,
): Promise<{ readonly argv: readonly string[]; readonly asksHelp: boolean }> {
  const [at = -1, next = -1] = plainPositions(argv);
  const topics = registry.find(({ name }) => name === 'help');
  if (argv[at] !== 'help' || topics === undefined) return { argv, asksHelp: false };
  const word = argv[next];
  const isGroup = registry.some(({ name }) => name === word);
  if (
    word !== undefined &&
    !isGroup &&
    nearest(word, nextWords(['help'], Object.keys(await topics.leaves()))) !== undefined
  ) {
    return { argv, asksHelp: false };
  }
  return { argv: argv.filter((_, index) => index !== at), asksHelp: true };
}

/** Follows the words as far as they lead, and loads the command they name. Throws `usage` with the nearest name. */
export async function locate(argv: readonly string[], registry: Registry): Promise<Located> {
  const words = plainWords(argv);
  const [first] = words;
  if (first === undefined) return { group: undefined, paths: [], command: undefined, words: [] };
  const group = registry.find(({ name }) => name === first);
  if (group === undefined) {
    throw refusedBefore(argv, first) ?? unknownWord(first, await meantAtHead(first, registry), '');
  }
  const leaves = await group.leaves();
  const paths = Object.keys(leaves);
  const found = follow(words, paths);
  const where = found.join(' ');
  const isCommand = paths.includes(where);
  if (!isCommand && found.length < words.length) {
    const next = words[found.length] ?? '';
    throw refusedBefore(argv, next) ?? unknownWord(next, meantIn(where, next, nextWords(found, paths)), where);
  }
  return { group, paths, command: isCommand ? await leaves[where]?.() : undefined, words: found };
}

/** The words that lead to a command or on the way to one. */
function follow(words: readonly string[], paths: readonly string[]): readonly string[] {
  const ways = paths.map(path => path.split(' '));
  let length = 1;
  const leadsOn = (count: number) =>
    count <= words.length &&
    ways.some(way => way.length >= count && way.slice(0, count).every((word, i) => word === words[i]));
  while (leadsOn(length + 1)) length++;
  return words.slice(0, length);
}

/**
 * Throws `usage` where no command was named and words stand behind `--`: help in their place would end with 0 although
 * what was asked for did not happen.
 */
export function checkBehindDashes(argv: readonly string[], { paths, words }: Located, registry: Registry): void {
  const at = argv.indexOf('--');
  const [next] = argv.slice(at + 1);
  if (at < 0 || next === undefined) return;
  const known = words.length === 0 ? registry.map(({ name }) => name) : nextWords(words, paths);
  const meant = known.includes(next) ? argv.toSpliced(at, 1).map(shellWord).join(' ') : [...words, '--help'].join(' ');
  throw usage('nothing was run: words after "--" are never a command', `cardwright ${meant}`);
}

/** Words that may follow the given ones, of commands with these words. */
export function nextWords(words: readonly string[], paths: readonly string[]): string[] {
  const next = paths
    .map(path => path.split(' '))
    .filter(path => path.length > words.length && words.every((word, index) => word === path[index]))
    .map(path => path[words.length] ?? '');
  return [...new Set(next)];
}

/** A word that leads nowhere may be the value of an option that no command has, and then a secret. */
function refusedBefore(argv: readonly string[], word: string) {
  return secretRefusal(argv[argv.indexOf(word) - 1] ?? '');
}

/** At most so many suggestions: more are a list to read, and --help is one. */
const MOST_MEANT = 3;

/** What a word below a group may mean: the word of ours for it, else the nearest. */
function meantIn(where: string, word: string, known: readonly string[]): readonly string[] {
  const line = meantBelow(`${where} ${word}`);
  if (line !== undefined) return [line];
  const ours = meantWords(word).filter(each => known.includes(each));
  const near = ours[0] ?? nearest(word, known);
  return near === undefined ? [] : [near];
}

/** The same at the head of the line, where a verb may stand without its group. */
async function meantAtHead(word: string, registry: Registry): Promise<readonly string[]> {
  const first = meantFirst(word);
  if (first !== undefined) return [first];
  const near = nearest(
    word,
    registry.map(({ name }) => name),
  );
  if (near !== undefined) return [near];
  const listed = registry.filter(({ unlisted }) => unlisted !== true);
  const verbs = [word, ...meantWords(word)];
  // The likeliest of each group, in the order of the root help: cards first.
  const found = await Promise.all(
    listed.map(async ({ name, leaves }) => {
      const known = nextWords([name], Object.keys(await leaves()));
      const verb = verbs.find(each => known.includes(each));
      return verb === undefined ? [] : [`${name} ${verb}`];
    }),
  );
  return found.flat().slice(0, MOST_MEANT);
}

function unknownWord(word: string, meant: readonly string[], where: string) {
  const absent = meant.length > 0 ? undefined : whyAbsent([where, word].filter(Boolean).join(' '));
  const [last, ...others] = meant.map(quote).reverse();
  const either = others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`;
  const advice = either === undefined ? (absent ?? '') : `Did you mean ${either}?`;
  const path = ['cardwright', where].filter(Boolean).join(' ');
  return usage(`unknown command ${quote(word)}. ${advice}`.trimEnd(), `${path} --help`);
}
