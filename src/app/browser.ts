/** Starting the browser of this user. An address on a command line is seen by all users, so that it goes in a private file. */
import { spawn } from 'node:child_process';
import { access, constants, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StartedBrowser } from '../cli/context.ts';
import { createPrivate, preparePrivateFolder } from '../files/private-files.ts';
import type { AppHost } from './app-host.ts';

/** What opens a file with the program meant for it. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};
const OTHER_OPENERS = ['xdg-open', 'sensible-browser'];

/** Never waits for the browser, which may go on for hours. */
export async function openBrowser(host: AppHost, address: string): Promise<StartedBrowser> {
  const { platform, noise, folders } = host;
  await preparePrivateFolder(folders.runtime, { platform, random: noise, warn: () => undefined });
  const file = join(folders.runtime, `inspector-${Buffer.from(noise.bytes(8)).toString('hex')}.html`);
  const opener = await openerOf(host);
  if (opener === undefined) return { started: false, remove: async () => undefined };
  await createPrivate(file, leadingTo(address));
  const remove = () => rm(file, { force: true });
  return { started: await isStarted(host, opener, pathToFileURL(file).href), remove };
}

/** A page that goes to the address; nothing in it is a script. */
function leadingTo(address: string): string {
  const target = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return [
    '<!doctype html><meta charset="utf-8"><title>cardwright</title>',
    '<meta name="referrer" content="no-referrer">',
    `<meta http-equiv="refresh" content="0;url=${target}">\n`,
  ].join('');
}

async function openerOf({ platform, programFolders }: AppHost): Promise<string | undefined> {
  for (const name of OPENERS[platform] ?? OTHER_OPENERS) {
    for (const folder of programFolders) {
      const path = join(folder, name);
      if (await isThere(path)) return path;
    }
  }
  return undefined;
}

const isThere = (path: string) =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** The browser needs its display, not our keys. */
function isStarted({ env }: AppHost, opener: string, file: string): Promise<boolean> {
  const handed = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('CARDWRIGHT_')));
  return new Promise(resolve => {
    const child = spawn(opener, [file], { env: handed, detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('spawn', () => resolve(true));
    child.unref();
  });
}
