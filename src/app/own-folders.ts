/** The folders of this user, or why there are none: a path that is not absolute would mean another one in each folder. */
import { isAbsolute } from 'node:path';
import { CliError } from '../core/errors.ts';
import { type FolderFacts, foldersFor } from '../platform/folders.ts';
import type { Folders } from '../platform/host.ts';

/** What may not be known: a user without a home, or without an entry in the list of users. */
export interface HomeFacts extends Omit<FolderFacts, 'home'> {
  readonly home: () => string;
}

/**
 * The folders of `foldersFor`. Throws `usage` when HOME, or what names a folder in its place, is empty or relative: in a
 * folder that somebody else has filled, their profiles and key commands would be taken for ours. Nothing is read then.
 */
export function ownFolders({ home, ...facts }: HomeFacts): Folders {
  const moved = facts.env['CARDWRIGHT_CONFIG_DIR'];
  if (moved !== undefined && !isAbsolute(moved)) throw noPlace('CARDWRIGHT_CONFIG_DIR', moved);
  let place = '';
  try {
    place = home();
  } catch {
    // No home and no entry for this user: as an empty one.
  }
  const folders = foldersFor({ ...facts, home: place });
  const isOwn = Object.values(folders).every(folder => isAbsolute(folder));
  if (!isOwn) throw noPlace(facts.platform === 'win32' ? 'USERPROFILE' : 'HOME', place);
  return folders;
}

function noPlace(variable: string, value: string): CliError {
  const is = value === '' ? 'is empty' : `is ${JSON.stringify(value)}, no absolute path`;
  return new CliError('usage', {
    message: `${variable} ${is}, so there is no place for profiles and the journal`,
    notes: ['Nothing was read: a path that is relative to the working folder may belong to somebody else.'],
    hint: 'export CARDWRIGHT_CONFIG_DIR="$PWD/.cardwright"',
    outcome: 'not_sent',
  });
}
