/** Files of a run: what a command reads and writes, and what it leaves for the next one. */
import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import type { Context } from '../cli/context.ts';
import { CliError } from '../core/errors.ts';
import type { AppHost } from './app-host.ts';
import { once } from './connections.ts';
import { type InputSource, openRows, readBytes } from './input.ts';

export type ContextFiles = Pick<
  Context,
  | 'readFile'
  | 'textOf'
  | 'changeText'
  | 'openInput'
  | 'readBytes'
  | 'createFile'
  | 'replaceFile'
  | 'readyFile'
  | 'cleanupLog'
  | 'completionFiles'
>;

/** `inputs` knows whom to tell that the command waits for standard input. */
export function contextFiles(host: AppHost, inputs: InputSource, warn: (text: string) => void): ContextFiles {
  return {
    readFile: path => host.readFile(path),
    textOf: async path => (await usersText(host, path)).text,
    async changeText(path, before, next) {
      const { file, text } = await usersText(host, path);
      if (text !== before) throw changedMeanwhile(path);
      const { replaceUsersFile } = await import('../files/users-file.ts');
      await replaceUsersFile(file, Buffer.from(next), { random: host.noise, platform: host.platform });
    },
    openInput: path => openRows(inputs, path),
    readBytes: path => readBytes(inputs, path),
    createFile: (path, content) => createFile(host, path, content),
    async replaceFile(place, file) {
      const { replaceFile } = await import('./replaced-file.ts');
      return replaceFile(host, place, file);
    },
    cleanupLog: once(async () => {
      const { openCleanupLog } = await import('../events/cleanup-log.ts');
      const files = { platform: host.platform, random: host.noise, warn };
      const { pid, folders } = host;
      const isRunning = (other: number) => host.isRunning(other);
      return openCleanupLog({ folder: folders.state, pid, now: () => host.clock.now(), files, isRunning });
    }),
    async readyFile(path) {
      const ready = await import('../files/ready-file.ts');
      const place = resolve(host.cwd, path);
      await ready.clearReadyFile(place);
      const files = { platform: host.platform, random: host.noise, warn };
      return {
        write: address => ready.writeReadyFile(place, address, files),
        remove: address => ready.removeReadyFile(place, address),
      };
    },
    completionFiles: once(async () => {
      const { completionFilesFor } = await import('./completion-install.ts');
      return completionFilesFor(host);
    }),
  };
}

/** A file of the user and its text. Throws `usage` for bytes that are not UTF-8. */
async function usersText(host: AppHost, path: string) {
  const { readUsersFile } = await import('../files/users-file.ts');
  const file = await readUsersFile(resolve(host.cwd, path));
  const text = file.bytes?.toString('utf8');
  if (file.bytes !== undefined && !isUtf8(file.bytes))
    throw new CliError('usage', { message: `${path} is not UTF-8 text`, outcome: 'not_sent' });
  return { file, text };
}

function changedMeanwhile(path: string): CliError {
  return new CliError('guarded', {
    message: `${path} was changed by somebody else meanwhile; it was not changed`,
    notes: ['Run the command again.'],
    outcome: 'not_sent',
  });
}

async function createFile(host: AppHost, path: string, content: string): Promise<void> {
  const { createPrivate, systemCode } = await import('../files/private-files.ts');
  await createPrivate(resolve(host.cwd, path), content).catch((error: unknown) => {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const why = code === 'EEXIST' ? 'the file already exists and is not overwritten' : code;
    throw new CliError('usage', { message: `--out ${JSON.stringify(path)} cannot be made: ${why}`, cause: error });
  });
}
