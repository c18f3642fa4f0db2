/** Whom a run acts as, and which sandbox it steers: by its flags, its environment and its profiles. */
import type { Globals } from '../cli/parsing/globals.ts';
import type { SandboxAdmin } from '../contract/sandbox/admin-calls.ts';
import { CliError } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import type { ProfileChoice, ResolvedProfile } from '../profile/resolve.ts';
import type { AppHost } from './app-host.ts';
import type { NamedSandbox } from './named-sandbox.ts';

/** What a run knows before anything is chosen. */
export interface Choosing {
  readonly host: AppHost;
  readonly globals: Globals;
  readonly notice: (text: string) => void;
}

/** Whether it was thrown because nothing chooses a profile. */
export function isNothingChosen(thrown: unknown): boolean {
  return thrown instanceof CliError && thrown.kind === 'not_authenticated';
}

/** The profile that the run acts as; says on stderr what a person must know of it. Throws as `resolveProfile`. */
export async function resolve(settings: Choosing & { readonly isAboutAll: () => boolean }): Promise<ResolvedProfile> {
  const { resolveProfile } = await import('../profile/resolve.ts');
  const { host, notice } = settings;
  const { stdin, stderr } = host.streams;
  const resolved = await resolveProfile({
    ...choiceOf(settings),
    interactive: stdin.isTerminal && stderr.isTerminal,
    readKeyFile: path => secretFile(settings, path, 'key file'),
  });
  for (const warning of resolved.warnings) notice(`warning: ${warning}`);
  if (resolved.mode === 'live') notice(`LIVE · ${resolved.name}`);
  if (resolved.chosenBy === 'default on a terminal' && !settings.isAboutAll())
    notice('sandbox · no profile chosen; nothing here is real money');
  return resolved;
}

/** Throws `guarded` where the sandbox of this machine is not the one that the requests of the run go to. */
export async function checkSandboxIsMeant(settings: Choosing): Promise<void> {
  const { host, globals } = settings;
  if (globals.sandbox) return;
  const { checkIsMeant } = await import('./sandbox-meant.ts');
  await checkIsMeant({
    profile: await silently(settings),
    async served() {
      const { findServer } = await import('../sandbox/serving/find-server.ts');
      const { platform, noise: random, folders } = host;
      return (await findServer(folders.data, { platform, random, warn: () => undefined }))?.origin;
    },
  });
}

/** Throws `guarded` where the key of the run is not of the account that the token of `named` opens. */
export async function checkKeyIsOf(
  named: NamedSandbox,
  { settings, admin }: { readonly settings: Choosing; readonly admin: () => Promise<SandboxAdmin> },
): Promise<void> {
  const { checkOneAccount } = await import('./one-account.ts');
  await checkOneAccount({ profile: await silently(settings), named, admin, random: settings.host.random });
}

/** The profile that the run acts as, without a word of it; undefined where nothing chooses one. */
async function silently(settings: Choosing): Promise<ResolvedProfile | undefined> {
  const { resolveProfile } = await import('../profile/resolve.ts');
  const readKeyFile = (path: string) => secretFile(settings, path, 'key file');
  const chosen = resolveProfile({ ...choiceOf(settings), interactive: false, readKeyFile });
  return chosen.catch(thrown => (isNothingChosen(thrown) ? undefined : Promise.reject(thrown)));
}

/** What chooses a profile. */
function choiceOf({ host, globals, notice }: Choosing): ProfileChoice {
  return {
    flags: {
      sandbox: globals.sandbox,
      ...(globals.profile === undefined ? {} : { profile: globals.profile }),
      ...(globals.contract === undefined ? {} : { contract: globals.contract }),
    },
    env: host.env,
    async store() {
      const { openProfileStore } = await import('../profile/store.ts');
      return openProfileStore(host, warning => notice(`warning: ${warning}`));
    },
  };
}

async function secretFile(
  { host, notice }: Choosing,
  path: string,
  called: 'key file' | 'token file',
): Promise<string> {
  const { readKeyFile } = await import('../profile/key-file.ts');
  const { platform, clock, signal } = host;
  return readKeyFile(path, { platform, clock, signal, called, warn: warning => notice(`warning: ${warning}`) });
}

/** The sandbox elsewhere that the run steers; undefined for the one of this machine. Throws as `namedSandbox`. */
export async function namedElsewhere(settings: Choosing): Promise<NamedSandbox | undefined> {
  const { namedSandbox } = await import('./named-sandbox.ts');
  const { host, globals } = settings;
  const isOwn = globals.sandbox || globals.profile === 'sandbox';
  return namedSandbox({
    flag: isOwn ? 'sandbox' : globals.profile === undefined ? undefined : 'profile',
    env: host.env,
    readTokenFile: path => secretFile(settings, path, 'token file'),
    async profile() {
      const { savedProfile } = await import('../profile/resolve.ts');
      return savedProfile(choiceOf(settings));
    },
  });
}

/** What is told of the profile. */
export function identityOf(resolved: ResolvedProfile): Identity {
  const { name, mode, baseUrl, chosenBy, keyHint, keySource, keyHome, contractFile } = resolved;
  return { profile: name, mode, baseUrl: baseUrl ?? 'embedded', chosenBy, keyHint, keySource, keyHome, contractFile };
}
