/** What is shown: a result of a command, and what is told of this machine by the names of the JSON, each once, as shape and as type. */
import type { ValueOf } from '../contract/field.ts';
import { maybe, orNull, tells } from '../contract/own-field.ts';
import type { CliError } from '../core/errors.ts';
import type { ChainFlaw } from '../journal/chain.ts';
import type { Column, Presentation } from '../terminal/view.ts';

/** What a command's result looks like. `data`, the JSON, is the result itself unless said otherwise. */
export interface Shown extends Partial<Omit<Presentation, 'columns' | 'noun'>> {
  readonly columns: readonly Column[];
  readonly noun: string;
  /** Text that is the answer as it stands, whatever the format: a script, a document. */
  readonly verbatim?: string;
  /** A page to read in place of the table, on a screen and in a pipe. A named format gets the data. */
  readonly prose?: string;
  /** Reported after the answer; for a command that did some of what was asked. A function where rows come later. */
  readonly failure?: CliError | (() => CliError | undefined) | undefined;
  /** Exit code of a program that ran in our place, or of a view that a signal ended; a function where it comes later. */
  readonly exit?: number | (() => number);
  /** This run of a command that can change something changed nothing. */
  readonly changedNothing?: true;
  /** What goes on once the answer was given: a server serves. The run ends with it, and with its error. */
  readonly goesOn?: () => Promise<void>;
}

/** Profiles as commands see them: never a key, only its hint. */
export const PROFILE_ROW = {
  name: tells.text('Name.'),
  current: tells.yes('Whether it is used when none is named.'),
  mode: tells.word('Kind of key.', ['sandbox', 'test', 'live']),
  base_url: tells.text('Address of the service.'),
  key: tells.text('Prefix and last four characters of the key.'),
  key_source: tells.text('Where the key is kept.'),
  contract: orNull(tells.text('File of contract overrides.')),
  settings: tells.json<Readonly<Record<string, unknown>>>('Settings that differ from none.'),
} as const;
export type ProfileRow = ValueOf<typeof PROFILE_ROW>;

/** One thing `doctor` looked at. `fail` makes the whole examination fail; `warn` should be known; `skip` could not be looked at. */
export const FINDING = {
  check: tells.text('What was looked at.'),
  status: tells.word('The outcome.', ['ok', 'warn', 'fail', 'skip']),
  says: tells.text('In one line.'),
  hint: maybe(tells.text('The next command.')),
} as const;
export type Finding = ValueOf<typeof FINDING>;

export const JOURNAL_STATE = {
  place: tells.text('The file, or the address of the database.'),
  shared: tells.yes('Whether several people may use it.'),
  journal: orNull(tells.text('Its id.')),
  account: orNull(tells.text('The account of this run in it.')),
  key_listed: maybe(tells.yes('Whether it lists the API key of this run.')),
  audit_line: orNull(tells.count('Number of its last audit line.')),
  seen_line: orNull(tells.count('Highest number that this machine has seen.')),
  unfinished: tells.count('Operations that are not finished.'),
  locked_by: tells.json<readonly string[]>('Sessions that hold the account at this moment.'),
  limits: tells.json<readonly string[]>('Limits that the journal sets.'),
  approvers: tells.json<readonly string[]>('Who may approve.'),
} as const;
export type JournalState = ValueOf<typeof JOURNAL_STATE>;

export interface Stranger {
  readonly card_id: string;
  readonly last4: string | null;
  /** USD. */
  readonly balance: number;
  readonly created_at: string | null;
  readonly marker: string;
}

export const JOURNAL_CHECK = {
  place: tells.text('The journal.'),
  account: tells.text('The account.'),
  lines: tells.count('Audit lines that were followed.'),
  flaws: tells.json<readonly ChainFlaw[]>('What does not fit: what, and op where it is about one.'),
  strangers: tells.json<readonly Stranger[]>(
    'Cards whose mark no operation knows: card_id, last4, balance, created_at and marker.',
  ),
} as const;
export type JournalCheck = ValueOf<typeof JOURNAL_CHECK>;

/** The key that this user approves with. */
export const OWN_KEY = {
  person: tells.text('The person; of a shared journal the login role.'),
  keyid: tells.text('First digits of the digest of its public part.'),
  line: tells.text('The line that makes it an approver.'),
  place: tells.text('Where it lies: a path, or keychain.'),
  listed: tells.yes('Whether it may approve in the journal of this run.'),
} as const;
export type OwnKey = ValueOf<typeof OWN_KEY>;
