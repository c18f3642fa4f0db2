/** Calls with an `intent`, through the journal that the options of the client name. What it takes is loaded by the first. */

import { homedir, tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import { DAY } from '../core/durations.ts';
import { type CliError, notSent, usage } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';
import { type FolderFacts, foldersFor } from '../platform/folders.ts';
import { rest } from '../platform/time.ts';
import type { DatabaseJournal, FolderJournal, NamedCall, NamedCalls, Place } from './journal.ts';

/** A connection to a database that nobody uses is closed after this, ms: the program may end. */
const IDLE_MS = 5_000;

export function namedCalls(around: NamedCalls, chosen: FolderJournal | DatabaseJournal | undefined) {
  let place: Promise<Place> | undefined;
  const underWay = new Set<Promise<unknown>>();
  let idle = new AbortController();

  async function placeOf(named: FolderJournal | DatabaseJournal): Promise<Place> {
    const { databasePlace, folderPlace } = await import('./journal.ts');
    return named.kind === 'folder' ? folderPlace(around, named) : databasePlace(around, named);
  }

  async function closeWhenIdle(): Promise<void> {
    idle = new AbortController();
    if (await rest(IDLE_MS, around.clock, idle.signal)) await (await place)?.close();
  }

  return {
    /** Throws as `sendNamed`, and `usage` without a journal: a promise without one is none. */
    async send(call: NamedCall): Promise<unknown> {
      if (chosen === undefined)
        throw usage('an intent needs a journal: createClient({ …, journal: "/absolute/folder" })');
      const { sendNamed, refuseUnkept } = await import('./journal.ts');
      refuseUnkept(call);
      idle.abort();
      place ??= placeOf(chosen);
      const sending = sendNamed(around, call, await place);
      underWay.add(sending);
      try {
        return await sending;
      } finally {
        underWay.delete(sending);
        if (underWay.size === 0 && chosen.kind === 'database') void closeWhenIdle();
      }
    },
    async close(): Promise<void> {
      await Promise.allSettled(underWay);
      idle.abort();
      await (await place)?.close();
    },
  };
}

// Where calls with an `intent` are kept, as the options of a client say it. Nothing is opened here.

/** Where operations are kept; described in scripts/library-client.d.cts. */
export interface JournalOptions {
  readonly journal?: string;
  readonly journalPasswordFile?: string;
  readonly journalFolder?: string;
}

/** Undefined where none is named. Throws `usage` and `guarded` for what cannot be used. */
export function chosenJournal(
  options: JournalOptions,
  own: Pick<FolderFacts, 'env' | 'platform'>,
): FolderJournal | DatabaseJournal | undefined {
  const { journal, ...ofDatabase } = options;
  const { journalPasswordFile, journalFolder } = ofDatabase;
  const isDatabase = typeof journal === 'string' && /^postgres(?:ql)?:/i.test(journal);
  if (!isDatabase) {
    for (const [name, value] of Object.entries({ journalPasswordFile, journalFolder })) {
      if (value !== undefined) throw wrongly(`${name} is for a journal in a database: journal: "postgres://…"`);
    }
    if (journal === undefined) return undefined;
    return { kind: 'folder', stateFolder: folderNamed('journal', journal) };
  }
  const passfile = journalPasswordFile;
  return {
    kind: 'database',
    url: journal,
    env:
      passfile === undefined
        ? own.env
        : { ...own.env, PGPASSFILE: pathNamed('journalPasswordFile', passfile, 'a file') },
    stateFolder: journalFolder === undefined ? ownStateFolder(own) : folderNamed('journalFolder', journalFolder),
  };
}

const folderNamed = (name: string, value: unknown) => pathNamed(name, value, 'a folder');

function pathNamed(name: string, value: unknown, of: string): string {
  needText(name, value);
  if (!isAbsolute(String(value))) throw wrongly(`${name} must be the absolute path of ${of}`);
  return String(value);
}

/** That of the command line for this user. */
function ownStateFolder({ env, platform }: Pick<FolderFacts, 'env' | 'platform'>): string {
  const moved = env['CARDWRIGHT_CONFIG_DIR'];
  if (moved === undefined || isAbsolute(moved)) {
    const { state } = foldersFor({ env, platform, home: homeOrNone(), temporary: tmpdir() });
    if (isAbsolute(state)) return state;
  }
  throw wrongly('this user has no state folder, so journalFolder must name one: an absolute path');
}

function homeOrNone(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}

// What a program hands over, checked by its form. What was given is never repeated: it may be a secret.

export const isText = (value: unknown) => typeof value === 'string';
export const isAbsent = (value: unknown) => value === undefined || value === null;

/** How one value is checked; throws `usage`. */
export type Check = (name: string, value: unknown) => void;

const needs =
  (form: string, fits: (value: unknown) => boolean): Check =>
  (name, value) => {
    if (!fits(value)) throw missing(name, form, value);
  };

export const needObject = needs('an object', isObject);
export const needText = needs('text', isText);
export const needBoolean = needs('true or false', value => typeof value === 'boolean');
export const needFunction = needs('a function', value => typeof value === 'function');
/** By what is used of it: that of a test environment is of another class. */
export const needSignal = needs('an AbortSignal', value => {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
});

/** Throws `usage` for a name that is not there, and for a value of another form. What is undefined counts as left out. */
export function checkOptions(given: object, checks: Readonly<Record<string, Check>>): void {
  const known = new Map(Object.entries(checks));
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const check = known.get(name);
    if (check === undefined) throw wrongly(`${name} is not known here; known: ${[...known.keys()].join(', ')}`);
    check(name, value);
  }
}

/** Longer ones are a mistake, and timers of Node know no more than 24 days. */
const MOST_MS = DAY;

/** Throws `usage`. */
export function needMilliseconds(name: string, value: unknown): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MOST_MS) return;
  throw wrongly(`${name} must be a whole number of milliseconds, from 1 to ${MOST_MS}`);
}

export function missing(name: string, form: string, value: unknown): CliError {
  return wrongly(isAbsent(value) ? `${name} is missing` : `${name} must be ${form}`);
}

export function wrongly(message: string, operation?: string): CliError {
  return notSent('usage', message, { ...(operation !== undefined && { operation }) });
}
