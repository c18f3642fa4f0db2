/**
 * What is said to a word or an option that there is not: the word of ours for that of another tool, the new one for an old
 * one, the nearest. A suggestion is shown, never run.
 */
import { type CliError, usage } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import type { Registry } from './parsing/command.ts';
import { quote } from './parsing/values.ts';

/** Words of ours for one of another tool, the likeliest first. A group answers with those it has. */
const MEANT: readonly (readonly [words: string, ours: readonly string[]])[] = [
  ['ls all search find', ['list']],
  ['show view describe info read', ['get', 'show', 'status', 'list']],
  ['get', ['show']],
  ['rm remove delete del destroy', ['terminate', 'delete', 'remove', 'uninstall']],
  ['cancel close kill end stop', ['terminate', 'stop']],
  ['update edit modify change patch', ['update', 'set']],
  ['set', ['update']],
  ['add new make issue generate open', ['create', 'start', 'save']],
  ['topup top-up load deposit credit', ['fund']],
  ['unload debit payout', ['withdraw']],
  ['block lock pause suspend disable', ['freeze']],
  ['unblock unlock unpause enable activate thaw', ['unfreeze']],
  ['reveal pan number cvv', ['details']],
  ['follow watch stream', ['tail', 'watch', 'listen']],
  ['switch select', ['use']],
  ['run', ['exec', 'start']],
];

/** What a word at the head of the line means, as the words of ours that follow the program's name. */
const MEANT_FIRST: Readonly<Record<string, string>> = {
  transactions: 'tx',
  transaction: 'tx',
  history: 'tx',
  balance: 'wallet',
  otp: '3ds wait',
  challenges: '3ds',
  webhook: 'webhooks',
  journal: 'ops',
  logs: 'audit list',
  version: '--version',
  auth: 'login',
  config: 'profiles',
  status: 'whoami',
};

/** A command with its options, for words below a group that one word does not answer. */
const MEANT_BELOW: Readonly<Record<string, string>> = {
  'fleet diff': 'plan',
  'fleet drift': 'plan --exit-code drift',
  'fleet init': 'import --none',
  'fleet sync': 'apply',
};

/** What no command does, and why; by the words typed. */
const ABSENT: Readonly<Record<string, string>> = {
  'cards update': 'The properties of a card cannot be changed; make a new card.',
  'cards edit': 'The properties of a card cannot be changed; make a new card.',
  'cards set': 'The properties of a card cannot be changed; make a new card.',
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

/** At most so many suggestions: more are a list to read, and --help is one. */
const MOST_MEANT = 3;

/** The refusal of the first of `words`, which is no command behind `after`, with at most three that may be meant. */
export async function unknownWord(
  words: readonly string[],
  after: readonly string[],
  known: readonly string[],
  registry: Registry,
): Promise<CliError> {
  const [word = ''] = words;
  const moved = movedTo([...after, ...words]);
  if (moved !== undefined) return moved;
  const where = after.join(' ');
  const meant = after.length === 0 ? await meantAtHead(word, registry) : meantIn(where, word, known);
  const absent = meant.length > 0 ? undefined : own(ABSENT, [...after, word].join(' '));
  const [last, ...others] = meant.map(quote).reverse();
  const either = others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`;
  const advice = either === undefined ? (absent ?? '') : `Did you mean ${either}?`;
  return usage(
    `unknown command ${quote(word)}. ${advice}`.trimEnd(),
    ['cardwright', where, '--help'].filter(Boolean).join(' '),
  );
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Words of ours that the word of another tool may mean. */
function meantWords(word: string): readonly string[] {
  return MEANT.filter(([words]) => words.split(' ').includes(word)).flatMap(([, ours]) => ours);
}

/** What a word below a group may mean: the word of ours for it, else the nearest. */
function meantIn(where: string, word: string, known: readonly string[]): readonly string[] {
  const line = own(MEANT_BELOW, `${where} ${word}`);
  if (line !== undefined) return [line];
  const near = meantWords(word).find(each => known.includes(each)) ?? nearest(word, known);
  return near === undefined ? [] : [near];
}

/** What was meant at the head of the line, where a verb may stand without its group: the likeliest of each, cards first. */
async function meantAtHead(word: string, registry: Registry): Promise<readonly string[]> {
  const names = registry.map(({ name }) => name);
  const first = own(MEANT_FIRST, word) ?? nearest(word, names);
  if (first !== undefined) return [first];
  const verbs = [word, ...meantWords(word)];
  const found = await Promise.all(
    registry
      .filter(({ unlisted }) => unlisted !== true)
      .map(async ({ name, leaves }) => {
        const paths = Object.keys(await leaves());
        const verb = verbs.find(each => paths.some(path => `${path} `.startsWith(`${name} ${each} `)));
        return verb === undefined ? [] : [`${name} ${verb}`];
      }),
  );
  return found.flat().slice(0, MOST_MEANT);
}

/** Old words of a command and the new ones; the longest first where one begins another. */
const MOVED: readonly (readonly [old: string, now: string])[] = [
  ['mirror path', 'books status'],
  ['mirror sync', 'books sync'],
  ['mirror status', 'books status'],
  ['mirror reset', 'books reset'],
  ['mirror query', 'books query'],
  ['mirror', 'books'],
  ['reconcile', 'books reconcile'],
  ['statement', 'books statement'],
  ['export', 'books export'],
  ['approvals approve', 'ops approve'],
  ['approvals reject', 'ops reject'],
  ['approvals show', 'ops show'],
  ['approvals list', 'ops list'],
  ['approvals key', 'ops keys'],
  ['approvals', 'ops'],
  ['ops takeover', 'ops resume'],
  ['ops locks', 'ops list'],
  ['sandbox overview', '--sandbox overview'],
  ['sandbox cards', '--sandbox cards list'],
  ['sandbox card', '--sandbox cards get'],
  ['sandbox webhooks', '--sandbox webhooks list'],
];

/** Words of a command that is gone, why, and the words that do its work. */
const GONE: readonly (readonly [old: string, why: string, now: string])[] = [
  ['ops prune', 'finished operations go by their age, when a later one begins', 'ops list'],
  ['journal move', 'a shared journal begins empty, and finished intents come along by themselves', 'journal init'],
  ['journal push', 'the database is the only journal that is shared', 'journal status'],
  ['sandbox acts', 'each page of the sandbox names its commands', 'sandbox open'],
  ['cards presets', 'a shell alias or a fleet file keeps what cards are made with', 'fleet import'],
];

/** Options by their old names, of every command. */
const MOVED_OPTIONS: Readonly<Record<string, string>> = {
  '--from': '--since',
  '--to': '--until',
  '--events': '--event',
  '--for': '--wait-timeout',
  '--within': '--wait-timeout',
};

/** The refusal of words that begin with an old name; undefined for any others. */
function movedTo(words: readonly string[]): CliError | undefined {
  const line = `${words.join(' ')} `;
  const begins = ([old]: readonly [string, ...string[]]) => line.startsWith(`${old} `);
  const moved = MOVED.find(begins);
  if (moved !== undefined) return usage(`"${moved[0]}" is "${moved[1]}" now`, `cardwright ${moved[1]} --help`);
  const gone = GONE.find(begins);
  return gone && usage(`"${gone[0]}" is gone: ${gone[1]}`, `cardwright ${gone[2]} --help`);
}

/** What an old option is called now; undefined for any other. */
export function optionNow(option: string): string | undefined {
  return Object.hasOwn(MOVED_OPTIONS, option) ? MOVED_OPTIONS[option] : undefined;
}
