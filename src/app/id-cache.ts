/** Puts what the answers of a run told about ids into the cache of completion, and takes it out again. */
import { resolve } from 'node:path';
import { ADMIN_OPERATIONS } from '../contract/sandbox/admin.ts';
import type { SandboxAdmin } from '../contract/sandbox/admin-calls.ts';
import { cacheScope, changeIdCache, forgetIdCache, type Whose } from '../id-cache/file.ts';
import type { Notes } from '../id-cache/notes.ts';
import type { ResolvedProfile } from '../profile/resolve.ts';
import type { AppHost } from './app-host.ts';

/** Whose rows they are. What is seen with another key, address or contract, or in another dialect, is another's. */
export function whoseOf(host: AppHost, profile: ResolvedProfile): Whose {
  const { name, mode, baseUrl, keyHint, contractFile } = profile;
  const dialect = baseUrl === undefined ? host.env['CARDWRIGHT_SANDBOX_DIALECT'] : undefined;
  const contract = contractFile === undefined ? undefined : resolve(host.cwd, contractFile);
  return { profile: name, place: cacheScope([mode, baseUrl, keyHint, contract, dialect]) };
}

/** Lays them over what was known. Never rejects. */
export async function remember(host: AppHost, profile: ResolvedProfile, notes: Notes): Promise<void> {
  await changeIdCache(host, whoseOf(host, profile), known => notes.over(known));
}

/** What throws away the cards of this user's sandbox makes what is known of them void. */
export function forgetting(host: AppHost, admin: SandboxAdmin): SandboxAdmin {
  return {
    ...admin,
    async send(operation, input, options) {
      const answered = await admin.send(operation, input, options);
      if (ADMIN_OPERATIONS[operation].effect === 'irreversible') await forgetSandbox(host);
      return answered;
    },
  };
}

/** The ids of completion and the mirror: another account with the same ids would be mixed into them. */
export async function forgetSandbox({ folders }: AppHost): Promise<void> {
  await forgetIdCache(folders.cache, 'sandbox');
  const { mirrorPath, removeMirror } = await import('../mirror/file.ts');
  await removeMirror(mirrorPath(folders.data, 'sandbox'));
}
