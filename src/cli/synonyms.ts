/**
 * What is said to a word or an option that there is not: the new word for an old one, the nearest. A suggestion is shown,
 * never run.
 */
import { type CliError, usage } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { quote } from './parsing/values.ts';

/** Words of a command that has a new name; the longest first where one begins another. */
const MOVED: readonly (readonly [old: string, now: string])[] = [
  ['mirror path', 'books status'],
  ['mirror', 'books'],
  ['reconcile', 'books reconcile'],
  ['statement', 'books statement'],
  ['export', 'books export'],
  ['approvals key', 'ops keys'],
  ['approvals', 'ops'],
  ['ops takeover', 'ops resume'],
  ['ops locks', 'ops list'],
  ['sandbox overview', '--sandbox overview'],
  ['sandbox cards', '--sandbox cards list'],
  ['sandbox card', '--sandbox cards get'],
  ['sandbox webhooks', '--sandbox webhooks list'],
];

/** Options by their old names, of every command. */
const MOVED_OPTIONS: Readonly<Record<string, string>> = {
  '--from': '--since',
  '--to': '--until',
  '--events': '--event',
  '--for': '--wait-timeout',
  '--within': '--wait-timeout',
};

/** Options that would take a secret: what is typed on a line can be read in the process list. */
const SAFER: Readonly<Record<string, string>> = {
  '--api-key': 'cardwright login --key-stdin, or CARDWRIGHT_API_KEY',
  '--key': 'cardwright login --key-stdin, or CARDWRIGHT_API_KEY',
  '--secret': 'cardwright webhooks create --secret-file <file>, or --secret-stdin',
};

/** The refusal of an option that would take a secret, without its value; undefined for any other option. */
export function secretRefusal(option: string): CliError | undefined {
  const safer = Object.hasOwn(SAFER, option) ? SAFER[option] : undefined;
  if (safer === undefined) return undefined;
  return usage(`no option takes a secret, because other users could see it in the process list. Use ${safer}`);
}

/** What an old option is called now; undefined for any other. */
export function optionNow(option: string): string | undefined {
  return Object.hasOwn(MOVED_OPTIONS, option) ? MOVED_OPTIONS[option] : undefined;
}

/** The refusal of the first of `words`, which is no command behind `after`, where there are those that are `known`. */
export function unknownWord(words: readonly string[], after: readonly string[], known: readonly string[]): CliError {
  const line = `${[...after, ...words].join(' ')} `;
  const moved = MOVED.find(([old]) => line.startsWith(`${old} `));
  if (moved !== undefined) {
    const [old, now] = moved;
    return usage(`"${old}" is "${now}" now`, `cardwright ${now} --help`);
  }
  const [word = ''] = words;
  return usage(
    `unknown command ${quote(word)}.${didYouMean(word, known)}`,
    ['cardwright', ...after, '--help'].join(' '),
  );
}
