/** What a program hands over: checked by its form, and never repeated, as it may be a secret. Nothing is opened here. */

import { homedir, tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import { DAY } from '../core/durations.ts';
import { type CliError, usage } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';
import { type FolderFacts, foldersFor } from '../platform/folders.ts';
import type { Environment } from '../platform/host.ts';

/** A journal of this machine, or a shared one. */
export interface ChosenJournal {
  /** State folder of `cardwright`: what is known of the service's idempotency keys lies there. */
  readonly stateFolder: string;
  /** `postgres://…`; what the address leaves out comes from the variables of PostgreSQL. */
  readonly database?: { readonly url: string; readonly env: Environment };
}

/** Undefined where none is named. Throws `usage` for what cannot be used. */
export function chosenJournal(
  { journal, journalPasswordFile, journalFolder }: Given<typeof JOURNAL_OPTIONS>,
  own: Pick<FolderFacts, 'env' | 'platform'>,
): ChosenJournal | undefined {
  const folder = (name: string, path: string) => absolute(name, path, 'a folder');
  if (journal === undefined || !/^postgres(?:ql)?:/i.test(journal)) {
    for (const [name, value] of Object.entries({ journalPasswordFile, journalFolder })) {
      if (value !== undefined) throw usage(`${name} is for a journal in a database: journal: "postgres://…"`);
    }
    return journal === undefined ? undefined : { stateFolder: folder('journal', journal) };
  }
  const password = journalPasswordFile && absolute('journalPasswordFile', journalPasswordFile, 'a file');
  const stateFolder = journalFolder === undefined ? ownStateFolder(own) : folder('journalFolder', journalFolder);
  if (stateFolder === undefined)
    throw usage('this user has no state folder, so journalFolder must name one: an absolute path');
  return {
    stateFolder,
    database: { url: journal, env: password === undefined ? own.env : { ...own.env, PGPASSFILE: password } },
  };
}

function absolute(name: string, path: string, of: string): string {
  if (!isAbsolute(path)) throw usage(`${name} must be the absolute path of ${of}`);
  return path;
}

/** That of the command line for this user; undefined for a user without a home. */
export function ownStateFolder({ env, platform }: Pick<FolderFacts, 'env' | 'platform'>): string | undefined {
  const moved = env['CARDWRIGHT_CONFIG_DIR'];
  if (moved !== undefined && !isAbsolute(moved)) return undefined;
  const { state } = foldersFor({ env, platform, home: homeOrNone(), temporary: tmpdir() });
  return isAbsolute(state) ? state : undefined;
}

function homeOrNone(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}

export const isText = (value: unknown) => typeof value === 'string';
export const isAbsent = (value: unknown) => value === undefined || value === null;

/** How one value is checked; throws `usage`. */
type Check<Value> = (name: string, value: unknown) => asserts value is Value;

/** Options by name, as a table of checks has them. */
export type Given<Checks> = {
  readonly [Name in keyof Checks]?: Checks[Name] extends Check<infer Value> ? Value | undefined : never;
};

function needs<Value>(form: string, fits: (value: unknown) => boolean): Check<Value> {
  return (name, value) => {
    if (!fits(value)) throw missing(name, form, value);
  };
}

export const needObject: Check<object> = needs('an object', isObject);
export const needText: Check<string> = needs('text', isText);
export const needBoolean: Check<boolean> = needs('true or false', value => typeof value === 'boolean');
export const needWarn: Check<(text: string) => void> = needs('a function', value => typeof value === 'function');
/** Longer ones are a mistake, and timers of Node know no more than 24 days. */
export const needMilliseconds: Check<number> = needs(
  `a whole number of milliseconds, from 1 to ${DAY}`,
  value => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= DAY,
);
/** By what is used of it: that of a test environment is of another class. */
export const needSignal: Check<AbortSignal> = needs('an AbortSignal', value => {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
});

/** Where operations are kept; described in scripts/library-client.d.cts. */
export const JOURNAL_OPTIONS = { journal: needText, journalPasswordFile: needText, journalFolder: needText } as const;

/** Throws `usage` for a name that is not there, and for a value of another form. What is undefined counts as left out. */
export function checkOptions(
  given: object,
  checks: Readonly<Record<string, (name: string, value: unknown) => void>>,
): void {
  const known = new Map(Object.entries(checks));
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const check = known.get(name);
    if (check === undefined) throw usage(`${name} is not known here; known: ${[...known.keys()].join(', ')}`);
    check(name, value);
  }
}

export function missing(name: string, form: string, value: unknown): CliError {
  return usage(isAbsent(value) ? `${name} is missing` : `${name} must be ${form}`);
}
