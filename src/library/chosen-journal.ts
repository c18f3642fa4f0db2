/** Where calls with an `intent` are kept, as the options of a client say it. Nothing is opened here. */
import { homedir, tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import { type FolderFacts, foldersFor } from '../platform/folders.ts';
import type { Environment } from '../platform/host.ts';
import { needText, wrongly } from './given-values.ts';

/** See scripts/library-client.d.cts. */
export interface JournalOptions {
  readonly journal?: string;
  readonly journalPasswordFile?: string;
  readonly journalFolder?: string;
}

export interface FolderJournal {
  readonly kind: 'folder';
  readonly stateFolder: string;
}

export interface DatabaseJournal {
  readonly kind: 'database';
  /** `postgres://…`; what it leaves out comes from the variables of PostgreSQL. */
  readonly url: string;
  readonly env: Environment;
  /** What is known of the service's idempotency keys lies there. */
  readonly stateFolder: string;
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
