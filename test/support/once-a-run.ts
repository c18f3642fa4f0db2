/** What every process of a test run may use, made by the first that needs it. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';

/**
 * What `make` resolved to in the first process that asked; others wait for it. It is kept as JSON in a folder of the run,
 * which is there. Rejects in all of them with what `make` rejected with.
 */
export async function onceARun<T extends object>(folder: string, name: string, make: () => Promise<T>): Promise<T> {
  const told = join(folder, `${name}.json`);
  const isFirst = await mkdir(join(folder, `${name}-begun`)).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const made = await make().then(
      result => ({ result }),
      (error: unknown) => ({ error: String(error) }),
    );
    await writeFile(`${told}.part`, JSON.stringify(made));
    await rename(`${told}.part`, told);
  }
  for (;;) {
    const text = await readFile(told, 'utf8').catch(() => undefined);
    if (text !== undefined) {
      const { result, error } = JSON.parse(text) as { readonly result?: T; readonly error?: string };
      if (result === undefined) throw new Error(error);
      return result;
    }
    await rest(20);
  }
}
