/** Where keys of profiles are put and fetched from: the profile file, a key file, a command, the keychain. */

import { createHash } from 'node:crypto';
import { CliError, notSent, usage } from '../core/errors.ts';
import { bytesWithin, KEY_TEXT_BYTES } from '../core/input-limits.ts';
import type { Secret } from '../core/secret.ts';
import { shellWord } from '../core/shell-quote.ts';
import { openReadable } from '../files/input-file.ts';
import { type FileDependencies, inOurWords, preparePrivateFolder } from '../files/private-files.ts';
import type { Host } from '../platform/host.ts';
import { outputOf } from '../platform/programs.ts';
import type { Keychain } from './keychain.ts';
import { keyMode, quoted, readKey } from './parts.ts';
import { type KeyPlace, type Profile, storedKey } from './profile-file.ts';
import { isAbsolutePath } from './settings.ts';

/** What to save. Paths are absolute; the first word of a command is the absolute path of its program. */
export type NewKey =
  /** In the profile file, or in the keychain. */
  | { readonly key: Secret; readonly keychain?: boolean }
  | { readonly key_file: string }
  | { readonly key_command: readonly string[] };

/** What of the host the profiles need. */
export type ProfileHost = Pick<Host, 'folders' | 'clock' | 'random' | 'platform' | 'env' | 'signal'> & {
  readonly keychain: () => Promise<Keychain>;
};

/** Where a key still is after it was forgotten. */
export interface Remains {
  readonly place: string;
  /** Why what was ours could not be taken away; undefined for a place that is the user's own. */
  readonly why?: string;
}

export function keyKeeper(host: ProfileHost, files: FileDependencies) {
  const folder = host.folders.config;

  /** Puts the key where it was asked to be. */
  async function keep(name: string, wanted: NewKey): Promise<KeyPlace> {
    if ('key' in wanted) {
      const key = readKey(wanted.key.expose());
      return wanted.keychain === true ? inKeychain(name, key) : storedKey(key);
    }
    const from = 'key_file' in wanted ? wanted.key_file : wanted.key_command;
    const path = typeof from === 'string' ? from : (from[0] ?? '');
    if (!isAbsolutePath(path)) {
      throw usage(`a key file or key command is named by its absolute path, not ${quoted(path)}`);
    }
    const key = await tell(from);
    const seen = { mode: keyMode(key), hint: key.hint() };
    return typeof from === 'string'
      ? { key_source: 'key_file', file: from, ...seen }
      : { key_source: 'key_command', command: from, ...seen };
  }

  /** Throws `guarded` where the keychain did not keep it: who asked for it does not want the key in a file. */
  async function inKeychain(name: string, key: Secret): Promise<KeyPlace> {
    const chain = await host.keychain();
    // Two folders of profiles must not overwrite each other's keys.
    const account = `${name}@${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`;
    const problem = await chain.problem();
    const failed = problem ?? (await chain.write(account, key));
    if (failed === undefined) return { key_source: 'keychain', account, mode: keyMode(key), hint: key.hint() };
    const left = problem === undefined ? await chain.remove(account) : undefined;
    throw notSent('guarded', `the keychain of this system did not keep the key: ${failed}`, {
      notes: [
        'Nothing was saved. Without --keychain the key is kept in the profile file, which only you can read.',
        ...(left === undefined ? [] : [`A copy may be left in the keychain as ${account}: ${left}`]),
      ],
      hint: 'cardwright login --help',
    });
  }

  /** Throws `guarded` when the key is of another mode than when it was saved. */
  async function fetch(profile: Profile): Promise<Secret> {
    const { key: stored, account, file, command = [], mode } = profile;
    if (stored !== undefined) return stored;
    const key = account === undefined ? await tell(file ?? command) : await fromKeychain(profile, account);
    if (keyMode(key) === mode) return key;
    throw notSent(
      'guarded',
      `profile ${profile.name} was saved with a ${mode} key, and its key is now ${keyMode(key)}`,
      loginFor(profile),
    );
  }

  async function fromKeychain(profile: Profile, account: string): Promise<Secret> {
    const found = await (await host.keychain()).read(account);
    if (found !== undefined) return readKey(found.expose());
    throw notSent(
      'not_authenticated',
      `the key of profile ${profile.name} is no longer in the keychain`,
      `${loginFor(profile)} --keychain`,
    );
  }

  async function tell(from: string | readonly string[]): Promise<Secret> {
    if (typeof from === 'string') return readKey(await readKeyFile(from, { ...files, signal: host.signal }));
    // Commands run there, never in the working folder, which may belong to anybody.
    await preparePrivateFolder(folder, files);
    return readKey(await runKeyCommand(from, host));
  }

  /** Takes away what is kept outside the profile file and is ours. Resolves to where the key still is. */
  async function forget({ file, command, account }: KeyPlace): Promise<Remains | undefined> {
    if (file !== undefined) return { place: `the key file ${file}` };
    if (command !== undefined) return { place: `what ${quoted(command[0] ?? '')} reads` };
    const why = account === undefined ? undefined : await (await host.keychain()).remove(account);
    return why === undefined ? undefined : { place: `the keychain of this system as ${account}`, why };
  }

  return { keep, fetch, forget };
}

/** A login asks for what it is not told, and a profile does not tell it its address. */
function loginFor({ name, base_url: address }: Profile): string {
  return `cardwright login --profile ${shellWord(name)} --base-url ${shellWord(address)}`;
}

// Keys from a file that the user names.

const LONGEST_PATH = 1024;

interface KeyFileDependencies {
  readonly platform: NodeJS.Platform;
  readonly warn: (text: string) => void;
  /** What the file is called in errors; `key file` when left out. */
  readonly called?: string;
  /** Ends the waiting for a pipe; its reason is thrown. */
  readonly signal: AbortSignal;
}

/**
 * The text of a key file somebody named. Symlinks and pipes are fine here (mounted secrets, `<(command)`); what
 * everybody may read or write is not. Throws `guarded` for that, `not_authenticated` when there is no such file.
 */
export async function readKeyFile(given: string, around: KeyFileDependencies): Promise<string> {
  const { called = 'key file', platform, warn, signal } = around;
  const named = `the ${called} ${quoted(given, LONGEST_PATH)}`;
  const refused = (why: string, hint = 'cardwright help environment') => notSent('guarded', `${named} ${why}`, hint);
  return inOurWords(named, async () => {
    await using file = await openReadable(given, signal).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      const message = `there is no ${named.slice('the '.length)}`;
      throw new CliError('not_authenticated', { message, hint: 'cardwright help environment' });
    });
    if (platform !== 'win32' && (file.mode & 0o006) !== 0)
      throw refused('is open to everybody', `chmod 600 ${shellWord(given)}`);
    if (platform !== 'win32' && (file.mode & 0o060) !== 0) warn(`${named} is open to its group`);
    const bytes = await bytesWithin(file.pieces, KEY_TEXT_BYTES);
    if (bytes === undefined) throw refused('is too large for a key');
    return bytes.toString('utf8');
  });
}

// Keys that a program of the user prints, such as a password manager.

/** Password managers may ask their user something first. */
const PATIENCE_MS = 60_000;

/**
 * What a `key_command` prints. No shell, an absolute program, none of our own variables in its environment
 * (docs/design/security.md, E13, E18). Throws `not_authenticated` without its output when it fails, prints too much or
 * takes longer than a minute.
 */
async function runKeyCommand(command: readonly string[], { clock, folders, env: all }: ProfileHost): Promise<string> {
  const [program = ''] = command;
  const env = Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('CARDWRIGHT_')));
  try {
    return await outputOf(command, {
      cwd: folders.config,
      env,
      clock,
      patienceMs: PATIENCE_MS,
      maxBuffer: KEY_TEXT_BYTES,
    });
  } catch (thrown) {
    const { code, signal, syscall } = thrown as NodeJS.ErrnoException & { readonly signal?: string | null };
    if (code === 'ABORT_ERR') throw failed(program, 'did not answer within a minute');
    if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') throw failed(program, 'prints too much');
    if (syscall?.startsWith('spawn')) throw failed(program, `cannot be started (${code})`);
    throw failed(program, `ended with ${signal ?? `exit code ${code}`}`);
  }
}

function failed(program: string, why: string): CliError {
  return new CliError('not_authenticated', {
    message: `the key command ${quoted(program, 1024)} ${why}`,
    notes: ['Run it yourself to see what it says.'],
    hint: 'cardwright profiles list',
  });
}
