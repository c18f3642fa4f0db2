/** Key and token of a new account in a folder, for whoever gets the account: 0600, never over what is there. */
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { KeptKeys } from '../cli/sandbox-servers.ts';
import { CliError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import {
  checkNew,
  createPrivate,
  type FileDependencies,
  preparePrivateFolder,
  systemCode,
} from '../files/private-files.ts';

interface NewKeys {
  readonly key: Secret;
  readonly token: Secret;
}

/**
 * Makes the folder and looks that nothing stands in the way, before an account is made; then `keep` writes both files.
 * `folder` is as the user wrote it. Throws `usage` for a file that is there already, `guarded` for an unsafe folder.
 */
export async function keysFolder(
  folder: string,
  { cwd, ...files }: FileDependencies & { readonly cwd: string },
): Promise<{ keep(keys: NewKeys): Promise<KeptKeys> }> {
  const kept: KeptKeys = { api_key_file: join(folder, 'api-key'), admin_token_file: join(folder, 'admin-token') };
  await preparePrivateFolder(resolve(cwd, folder), files);
  for (const file of Object.values(kept)) {
    await checkNew(resolve(cwd, file)).catch((error: unknown) => {
      throw cannotKeep(file, error);
    });
  }
  return {
    async keep({ key, token }) {
      const key_file = resolve(cwd, kept.api_key_file);
      await createPrivate(key_file, `${key.expose()}\n`).catch((error: unknown) => {
        throw cannotKeep(kept.api_key_file, error);
      });
      await createPrivate(resolve(cwd, kept.admin_token_file), `${token.expose()}\n`).catch(async (error: unknown) => {
        await rm(key_file, { force: true });
        throw cannotKeep(kept.admin_token_file, error);
      });
      return kept;
    },
  };
}

function cannotKeep(file: string, cause: unknown): unknown {
  const code = systemCode(cause);
  if (code === undefined) return cause;
  const why = code === 'EEXIST' ? 'is there already and is not overwritten' : `cannot be made: ${code}`;
  return new CliError('usage', {
    message: `--keys-in: ${file} ${why}`,
    notes: ['No account was made.'],
    hint: 'cardwright sandbox accounts create --help',
    outcome: 'not_sent',
    cause,
  });
}
