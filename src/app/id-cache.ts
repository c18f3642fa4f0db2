/** Ids that this run has shown, for completion; and what makes them void. */
import { resolve } from 'node:path';
import type { SandboxAdmin } from '../contract/sandbox/admin.ts';
import { forgetShown, type Whose } from '../id-cache/shown.ts';
import type { ResolvedProfile } from '../profile/resolve.ts';
import type { AppHost } from './process-host.ts';

/** What is seen with another key, address or contract, or in another dialect, is another's. */
export function whoseOf(host: AppHost, profile: ResolvedProfile): Whose {
  const { name, mode, baseUrl, keyHint, contractFile } = profile;
  const dialect = baseUrl === undefined ? host.env['CARDWRIGHT_SANDBOX_DIALECT'] : undefined;
  const contract = contractFile === undefined ? undefined : resolve(host.cwd, contractFile);
  const parts = [mode, baseUrl, keyHint, contract, dialect];
  return { profile: name, place: JSON.stringify(parts.map(part => part ?? null)) };
}

/** What throws away the cards of this user's sandbox makes what is known of them void. */
export function forgetting(host: AppHost, admin: SandboxAdmin): SandboxAdmin {
  return {
    ...admin,
    async send(operation, input, options) {
      const answered = await admin.send(operation, input, options);
      const { ADMIN_OPERATIONS } = await import('../contract/sandbox/admin.ts');
      if (ADMIN_OPERATIONS[operation].effect === 'irreversible') await forgetSandbox(host);
      return answered;
    },
  };
}

/** The ids of completion and the mirror: another account with the same ids would be mixed into them. */
export async function forgetSandbox({ folders }: AppHost): Promise<void> {
  await forgetShown(folders.cache, 'sandbox');
  const { mirrorPath, removeMirror } = await import('../mirror/file.ts');
  await removeMirror(mirrorPath(folders.data, 'sandbox'));
}
