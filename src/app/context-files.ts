/** Files of a run: what a command reads and writes, and what it leaves for the next one. */
import { resolve } from 'node:path';
import type { Context } from '../cli/context.ts';
import { CliError } from '../core/errors.ts';
import type { AppHost } from './app-host.ts';
import { once } from './connections.ts';
import { type InputSource, openRows, readBytes } from './input.ts';

export type ContextFiles = Pick<
  Context,
  | 'readFile'
  | 'openInput'
  | 'readBytes'
  | 'createFile'
  | 'replaceFile'
  | 'readyFile'
  | 'cleanupLog'
  | 'presets'
  | 'completionFiles'
>;

/** `inputs` says whom waiting for standard input is told. */
export function contextFiles(host: AppHost, inputs: InputSource, warn: (text: string) => void): ContextFiles {
  return {
    readFile: path => host.readFile(path),
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
    presets: once(async () => {
      const { openPresets } = await import('../profile/presets.ts');
      return openPresets(host, warn);
    }),
    completionFiles: once(async () => {
      const { completionFilesFor } = await import('./completion-install.ts');
      return completionFilesFor(host);
    }),
  };
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
