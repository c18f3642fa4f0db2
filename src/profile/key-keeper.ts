/** Where keys of profiles are put and fetched from: the profile file, a key file, a command, the keychain. */
import { createHash } from 'node:crypto';
import { CliError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import { shellWord } from '../core/shell-quote.ts';
import { type FileDependencies, preparePrivateFolder } from '../files/private-files.ts';
import type { Clock, Environment } from '../platform/host.ts';
import { keyMode, readKey } from './key.ts';
import { readKeyFile } from './key-file.ts';
import type { Keychain } from './keychain.ts';
import { quoted } from './name.ts';
import type { StoredSource } from './profile-file.ts';
import { isAbsolutePath } from './settings.ts';

/** What to save. Paths are absolute; the first word of a command is the absolute path of its program. */
export type NewKey =
  /** In the profile file, or in the keychain where that was asked for and answers. */
  | { readonly key: Secret; readonly keychain?: boolean }
  | { readonly key_file: string }
  | { readonly key_command: readonly string[] };

export interface KeyKeeperDependencies {
  readonly files: FileDependencies;
  readonly clock: Clock;
  readonly env: Environment;
  /** Ends the waiting for a key file that is a pipe. */
  readonly signal: AbortSignal;
  /** Folder of the profiles; commands run there. */
  readonly folder: string;
  readonly keychain?: (() => Promise<Keychain>) | undefined;
}

/** Where a key still is after it was forgotten. */
export interface Remains {
  readonly place: string;
  /** Why what was ours could not be taken away; undefined for a place that is the user's own. */
  readonly why?: string;
}

/** A profile that has a key. */
interface KeyOwner {
  readonly name: string;
  readonly base_url: string;
}

export interface KeyKeeper {
  /** Puts the key where it was asked to be, and says aloud where it is put instead. */
  keep(name: string, wanted: NewKey): Promise<StoredSource>;
  /** Throws `guarded` when the key is of another mode than when it was saved. */
  fetch(profile: KeyOwner, source: StoredSource): Promise<Secret>;
  /** Takes away what is kept outside the profile file and is ours. Resolves to where the key still is. */
  forget(source: StoredSource): Promise<Remains | undefined>;
}

export function keyKeeper(around: KeyKeeperDependencies): KeyKeeper {
  const { warn } = around.files;
  const keychain = async () => {
    if (around.keychain === undefined) throw new CliError('internal', { message: 'no keychain was handed in' });
    return around.keychain();
  };

  async function keep(name: string, wanted: NewKey): Promise<StoredSource> {
    if ('key' in wanted) {
      const key = readKey(wanted.key.expose());
      const kept = wanted.keychain === true ? await inKeychain(name, key) : undefined;
      return kept ?? { kind: 'stored', key };
    }
    const from = 'key_file' in wanted ? wanted.key_file : wanted.key_command;
    const path = typeof from === 'string' ? from : (from[0] ?? '');
    if (!isAbsolutePath(path)) {
      throw new CliError('usage', {
        message: `a key file or key command is named by its absolute path, not ${quoted(path)}`,
      });
    }
    const key = await tell(from);
    const seen = { mode: keyMode(key), hint: key.hint() };
    return typeof from === 'string'
      ? { kind: 'key_file', file: from, ...seen }
      : { kind: 'key_command', command: from, ...seen };
  }

  async function inKeychain(name: string, key: Secret): Promise<StoredSource | undefined> {
    const chain = await keychain();
    const otherwise = 'the key is kept in the profile file instead, which only you can read';
    const problem = await chain.problem();
    if (problem !== undefined) {
      warn(`the keychain cannot be used (${problem}); ${otherwise}`);
      return undefined;
    }
    const account = accountOf(name, around.folder);
    const failed = await chain.write(account, key);
    if (failed === undefined) return { kind: 'keychain', account, mode: keyMode(key), hint: key.hint() };
    const left = await chain.remove(account);
    const leftover = left === undefined ? '' : `; a copy may be left there as ${account}`;
    warn(`the keychain did not keep the key (${failed})${leftover}; ${otherwise}`);
    return undefined;
  }

  async function fetch(profile: KeyOwner, source: StoredSource): Promise<Secret> {
    if (source.kind === 'stored') return source.key;
    const key = source.kind === 'keychain' ? await fromKeychain(profile, source.account) : await tell(placeOf(source));
    if (keyMode(key) === source.mode) return key;
    throw new CliError('guarded', {
      message: `profile ${profile.name} was saved with a ${source.mode} key, and its key is now ${keyMode(key)}`,
      hint: loginFor(profile),
      outcome: 'not_sent',
    });
  }

  async function fromKeychain(profile: KeyOwner, account: string): Promise<Secret> {
    const found = await (await keychain()).read(account);
    if (found !== undefined) return readKey(found.expose());
    throw new CliError('not_authenticated', {
      message: `the key of profile ${profile.name} is no longer in the keychain`,
      hint: `${loginFor(profile)} --keychain`,
      outcome: 'not_sent',
    });
  }

  async function tell(from: string | readonly string[]): Promise<Secret> {
    const { clock, env, folder, files, signal } = around;
    if (typeof from === 'string') return readKey(await readKeyFile(from, { ...files, clock, signal }));
    const { runKeyCommand } = await import('./key-command.ts');
    await preparePrivateFolder(folder, files);
    return readKey(await runKeyCommand(from, { clock, env, folder }));
  }

  async function forget(source: StoredSource): Promise<Remains | undefined> {
    if (source.kind === 'stored') return undefined;
    if (source.kind === 'key_file') return { place: `the key file ${source.file}` };
    if (source.kind === 'key_command') return { place: `what ${quoted(source.command[0] ?? '')} reads` };
    const why = await (await keychain()).remove(source.account);
    return why === undefined ? undefined : { place: `the keychain of this system as ${source.account}`, why };
  }

  return { keep, fetch, forget };
}

function placeOf(source: Extract<StoredSource, { kind: 'key_file' | 'key_command' }>): string | readonly string[] {
  return source.kind === 'key_file' ? source.file : source.command;
}

/** A login asks for what it is not told, and a profile does not tell it its address. */
function loginFor({ name, base_url: address }: KeyOwner): string {
  return `cardwright login --profile ${shellWord(name)} --base-url ${shellWord(address)}`;
}

/** Two folders of profiles must not overwrite each other's keys. */
function accountOf(name: string, folder: string): string {
  return `${name}@${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`;
}
