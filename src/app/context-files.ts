/** Files of the user: read, made, changed; files of ours in places of the user; standard input. */
import { isUtf8 } from 'node:buffer';
import { promises as disk } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { CliError, notSent, usage } from '../core/errors.ts';
import { ROWS_BYTES, WHOLE_INPUT_BYTES } from '../core/input-limits.ts';
import type { InputFile } from '../files/input-file.ts';
import { checkNew, createPrivate, makeFolders, systemCode, systemWords } from '../files/private-files.ts';
import { readUsersFile, readyFile, replaceUsersFile, writeAtomically } from '../files/users-file.ts';
import type { AppHost } from './process-host.ts';
import type { Run } from './run.ts';

/** What becomes of a file of the user; undefined is no file. Its path may be relative. */
export interface FileEdit {
  readonly path: string;
  edit(before: Buffer | undefined): Buffer | undefined;
}

/** Input of a run of rows, read once. */
type InputRows = Omit<InputFile, 'mode'>;

/** Files that the user named, and standard input, which `-` is. All throw `usage` naming the file. */
export function contextFiles(run: Run) {
  const { host, files, terminal } = run;
  const { cwd, noise: random, platform, signal } = host;
  const { stdin } = terminal;
  return {
    stdin,
    /** What messages call it. */
    nameOf: (path: string): string => (path === '-' ? 'standard input' : path),
    /** Text of a file. */
    readFile: (path: string): Promise<string> =>
      path === '-' ? stdin.readText(WHOLE_INPUT_BYTES) : host.readFile(path),
    /** Bytes of a file, for rows. */
    async openInput(path: string): Promise<InputRows> {
      const input = await openInput(run, path);
      const { bounded } = await import('../files/input-file.ts');
      return { ...input, pieces: bounded(input.pieces, path, ROWS_BYTES) };
    },
    /** Bytes as they are. */
    async readBytes(path: string): Promise<Uint8Array> {
      if (path === '-') return stdin.readBytes(WHOLE_INPUT_BYTES);
      const { readWhole } = await import('../files/input-file.ts');
      return readWhole(resolve(cwd, path), path, WHOLE_INPUT_BYTES, signal);
    },
    /** Makes a new file of mode 0600 for `--out`. Throws `usage` when it is there or cannot be made. */
    createFile: (path: string, content: string) => createFile(host, path, content),
    /**
     * Puts a 0600 file there, whole or not at all; folders are made where they are missing. Throws `guarded` where a file stands
     * there that does not begin with `mark`.
     */
    async replaceFile(name: string, { pieces, mark }: { readonly pieces: Iterable<string>; readonly mark: string }) {
      const path = resolve(cwd, name);
      try {
        makeFolders(dirname(path), 0o700);
      } catch (error) {
        const code = systemCode(error);
        if (code === undefined || error instanceof CliError) throw error;
        const message = `the folder ${JSON.stringify(dirname(name))} cannot be made: ${systemWords(code)}`;
        throw notSent('usage', message, { cause: error });
      }
      await writeAtomically(path, bytesOf(pieces), { random, platform, name, mark });
    },
    /**
     * What edits would make of files of this user, all looked at before any is changed; with `isMeant` it is done, and folders of
     * ours that are empty then go. Throws `guarded` for a file that must not be changed, and what an edit throws; then nothing was.
     */
    async editFiles(edits: readonly FileEdit[], isMeant: boolean) {
      const changes = [];
      for (const { path, edit } of edits) {
        const file = await readUsersFile(resolve(cwd, path));
        const next = edit(file.bytes);
        changes.push({ file, next, planned: { path: file.path, action: actionOf(file.bytes, next) } });
      }
      for (const { file, next, planned } of isMeant ? changes : []) {
        if (planned.action === 'none') continue;
        await replaceUsersFile(file, next, { random, platform });
        if (next === undefined) await removeOurFolders(file.path);
      }
      return changes.map(({ planned }) => planned);
    },
    /** A file that tells a script that we are there. Takes away what an earlier run left there. Throws `usage` for something else. */
    readyFile: (path: string) => readyFile(resolve(cwd, path), files),
  };
}

/** Makes a new file of mode 0600. Throws `usage` where it is there or cannot be made. */
export function createFile(host: AppHost, path: string, content: string): Promise<void> {
  return createPrivate(resolve(host.cwd, path), content).catch(error => cannotBeMade(path, error));
}

/** Throws `usage` where `createFile` would. */
export function checkNewFile(host: AppHost, path: string): Promise<void> {
  return checkNew(resolve(host.cwd, path)).catch(error => cannotBeMade(path, error));
}

function cannotBeMade(path: string, cause: unknown): never {
  const code = systemCode(cause);
  if (code === undefined) throw cause;
  const [why, reason] = code === 'EEXIST' ? ['the file already exists and is not overwritten', 'exists'] : [code, code];
  throw notSent('usage', `--out ${JSON.stringify(path)} cannot be made: ${why}`, { cause, reason });
}

/** A file, or standard input. Throws `usage` for what cannot be read or is no text. */
export async function openInput({ host, terminal }: Run, path: string): Promise<InputRows> {
  if (path !== '-') {
    const { openInputFile } = await import('../files/input-file.ts');
    return openInputFile(resolve(host.cwd, path), path, host.signal);
  }
  const bytes = await terminal.stdin.readBytes(ROWS_BYTES);
  if (!isUtf8(bytes)) throw usage('standard input is not UTF-8 text. Nothing was sent');
  async function* pieces() {
    yield bytes;
  }
  return { pieces: pieces(), unchanged: async () => true, [Symbol.asyncDispose]: async () => undefined };
}

/** A folder that held nothing but ours goes with it. */
async function removeOurFolders(path: string): Promise<void> {
  for (let folder = dirname(path); OUR_FOLDERS.includes(basename(folder)); folder = dirname(folder))
    await disk.rmdir(folder).catch(() => undefined);
}

function actionOf(before: Buffer | undefined, next: Buffer | undefined): 'create' | 'change' | 'remove' | 'none' {
  if (before === undefined) return next === undefined ? 'none' : 'create';
  if (next === undefined) return 'remove';
  return before.equals(next) ? 'none' : 'change';
}

/** In writes of a size that is worth a call of the system. */
async function* bytesOf(pieces: Iterable<string>): AsyncGenerator<Uint8Array> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < WRITE) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

const WRITE = 65_536;

/** Folders that hold our files alone: a skill, and its pages. */
const OUR_FOLDERS: readonly string[] = ['cardwright', 'references'];
