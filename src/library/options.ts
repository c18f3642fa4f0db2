/** What a program hands over: checked by its form, and never repeated, as it may be a secret. Nothing is opened here. */

import { homedir, tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import { type InputFields, must, type Shape } from '../contract/field.ts';
import { flag, integer, text } from '../contract/own-field.ts';
import { shapeProblem } from '../contract/violation.ts';
import { DAY } from '../core/durations.ts';
import { type CliError, usage } from '../core/errors.ts';
import { isObject, withoutUndefined } from '../core/objects.ts';
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
  { journal, journalPasswordFile, journalFolder }: InputFields<typeof CLIENT_OPTIONS>,
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

/** Options of `createClient` that are values of JSON; all of them are described in scripts/library-client.d.cts. */
export const CLIENT_OPTIONS = {
  apiKey: must(text('')),
  baseUrl: must(text('')),
  live: flag(''),
  socketPath: text(''),
  // Timers of Node know no more than 24 days.
  timeoutMs: integer('', { min: 1, max: DAY }),
  journal: text(''),
  journalPasswordFile: text(''),
  journalFolder: text(''),
} as const;

/** Options of one call. */
export const CALL_OPTIONS = { idempotencyKey: text(''), intent: text('') } as const;

/** Throws `usage` for a name that is not there, and for a value of another form. What is undefined counts as left out. */
export function checkOptions(given: object, shape: Shape): void {
  const problem = shapeProblem(shape, withoutUndefined(given));
  if (problem !== undefined) throw usage(`${problem.field} ${problem.text}`);
}

export function needObject(name: string, value: unknown): asserts value is object {
  if (!isObject(value)) throw missing(name, 'an object', value);
}

export function missing(name: string, form: string, value: unknown): CliError {
  return usage(value === undefined || value === null ? `${name} is missing` : `${name} must be ${form}`);
}
