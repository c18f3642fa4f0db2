/** Files of the inspector's page as the build made them, in one file beside the program. */
import type { PageFiles } from '../sandbox/page/door.ts';

declare const BUNDLED_FILE: ((name: string) => Uint8Array) | undefined;

const FILE = 'inspector.json';

/** Read when it is asked for. Of a program that was not built there is a page that says so. */
export function pageFiles(): PageFiles {
  if (typeof BUNDLED_FILE === 'undefined') return NOT_BUILT;
  return JSON.parse(Buffer.from(BUNDLED_FILE(FILE)).toString('utf8')) as PageFiles;
}

const NOT_BUILT: PageFiles = {
  'index.html': { type: 'text/html; charset=utf-8', text: '<!doctype html><title>cardwright</title>Not built.' },
};
