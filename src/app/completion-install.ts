/** The files a shell finds its completions by, on the real disk. */

import {
  isOurScript,
  type PlannedFile,
  placesFor,
  withBlock,
  withoutBlock,
} from '../cli/completion/completion-places.ts';
import { type CompletionShell, completionStub } from '../cli/completion/completion-stubs.ts';
import type { CompletionFiles } from '../cli/context.ts';
import { CliError } from '../core/errors.ts';
import { readUsersFile, replaceUsersFile, type UsersFile } from '../files/users-file.ts';
import type { AppHost } from './app-host.ts';

interface Change {
  readonly file: UsersFile;
  readonly next: Buffer | undefined;
  readonly planned: PlannedFile;
}

/** Everything is looked at before anything is changed. */
export function completionFilesFor(host: AppHost): CompletionFiles {
  const around = { random: host.noise, platform: host.platform };

  async function changes(shell: CompletionShell, wanted: 'install' | 'uninstall'): Promise<readonly Change[]> {
    const { script, startFile, lines } = placesFor(shell, host.env, host.platform);
    const made: Change[] = [];
    if (script !== undefined)
      made.push(await scriptChange(script, wanted === 'install' ? completionStub(shell) : undefined));
    if (startFile !== undefined)
      made.push(await startFileChange(startFile, lines, wanted).catch(withAdvice(startFile, lines, wanted)));
    return made;
  }

  return {
    plan: async (shell, wanted) => (await changes(shell, wanted)).map(({ planned }) => planned),
    async carryOut(shell, wanted) {
      const all = await changes(shell, wanted);
      // A shell must never be told of a script that is not there.
      for (const { file, next, planned } of wanted === 'install' ? all : all.toReversed()) {
        if (planned.action !== 'none') await replaceUsersFile(file, next, around);
      }
      return all.map(({ planned }) => planned);
    },
  };
}

async function scriptChange(path: string, text: string | undefined): Promise<Change> {
  const file = await readUsersFile(path);
  if (file.bytes !== undefined && !isOurScript(file.bytes)) {
    throw new CliError('guarded', {
      message: `${path} exists and is not a script of cardwright; it was not changed`,
      outcome: 'not_sent',
    });
  }
  return change(file, text === undefined ? undefined : Buffer.from(text), text ?? '');
}

async function startFileChange(path: string, lines: string, wanted: 'install' | 'uninstall'): Promise<Change> {
  const file = await readUsersFile(path);
  if (wanted === 'install') return change(file, withBlock(file.bytes, lines, path), lines);
  return change(file, file.bytes && withoutBlock(file.bytes, path), lines);
}

function change(file: UsersFile, next: Buffer | undefined, text: string): Change {
  return { file, next, planned: { path: file.path, action: actionOf(file.bytes, next), text } };
}

function actionOf(before: Buffer | undefined, next: Buffer | undefined): PlannedFile['action'] {
  if (before === undefined) return next === undefined ? 'none' : 'create';
  if (next === undefined) return 'remove';
  return before.equals(next) ? 'none' : 'change';
}

/** Adds to an error how the owner of a start-up file changes it by hand, and throws it again. */
function withAdvice(path: string, lines: string, wanted: 'install' | 'uninstall') {
  return (thrown: unknown): never => {
    if (!(thrown instanceof CliError)) throw thrown;
    const advice =
      wanted === 'install'
        ? `Add these lines by hand to the start-up file of your shell:\n${lines}`
        : `The block is in ${path}.`;
    throw thrown.with({ notes: [...(thrown.facts.notes ?? []), advice] });
  };
}
