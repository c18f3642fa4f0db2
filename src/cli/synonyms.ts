/**
 * Words of other tools for what is called otherwise here, for the suggestion beside an unknown command. A suggestion is
 * shown, never run.
 */

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

/** Words of ours that the word of another tool may mean. */
export function meantWords(word: string): readonly string[] {
  return MEANT.filter(([words]) => words.split(' ').includes(word)).flatMap(([, ours]) => ours);
}

/** The command line that a word at the head of the line means. */
export function meantFirst(word: string): string | undefined {
  return Object.hasOwn(MEANT_FIRST, word) ? MEANT_FIRST[word] : undefined;
}

/** The words of ours, with options, that words below a group mean. */
export function meantBelow(words: string): string | undefined {
  return Object.hasOwn(MEANT_BELOW, words) ? MEANT_BELOW[words] : undefined;
}

/** Why there is no such command; undefined where nothing more can be said. */
export function whyAbsent(words: string): string | undefined {
  return Object.hasOwn(ABSENT, words) ? ABSENT[words] : undefined;
}
