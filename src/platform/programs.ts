/** Where a program is. The working folder is never looked into: it may be anybody's (docs/design/security.md, E18). */
import { access, constants, stat } from 'node:fs/promises';
import { resolve } from 'node:path';

/** Path of the first file of that name that we may run; undefined where no folder has one. */
export async function programIn(folders: readonly string[], name: string): Promise<string | undefined> {
  for (const folder of folders) {
    const path = resolve(folder, name);
    try {
      await access(path, constants.X_OK);
      if ((await stat(path)).isFile()) return path;
    } catch {
      // Not there, or not for us to run: the search goes on, as that of a shell does.
    }
  }
  return undefined;
}
