/** Words and options that were renamed: who types the old one is told the new one (exit 2), and nothing is run. */
import type { CliError } from '../core/errors.ts';
import { usage } from './parsing/values.ts';

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
export function movedTo(words: readonly string[]): CliError | undefined {
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
