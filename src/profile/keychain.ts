/**
 * The keychain of the operating system. Home of @napi-rs/keyring, an optional package. It runs in a child process that
 * can be ended: a keychain that hangs in native code would hang us too. On Linux the secret service alone is used:
 * left to itself the library falls back to the kernel's keyring, where it leaves the key in clear although it reports
 * a failure.
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { notSent } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';
import type { Environment, Host } from '../platform/host.ts';
import { outputOf } from '../platform/programs.ts';

const PATIENCE_MS = 3_000;
const MOST_BYTES = 8192;
const SERVICE = 'cardwright';
/** Variables that a desktop session is found by, and none of ours. */
const NEEDED =
  /^(?:DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR|DISPLAY|WAYLAND_DISPLAY|HOME|USER|LOGNAME|PATH|LANG|SystemRoot|APPDATA|LOCALAPPDATA|USERPROFILE|TEMP|TMP)$/;
/** Nothing is ever written under this name. */
const PROBED = 'cardwright-probe';

/** Reads its order from standard input: neither the key nor its name stands in a list of processes. */
const CHILD = `
const { stdin, stdout } = require('node:process');
let order = '';
stdin.on('data', part => (order += part)).on('end', () => {
  const { action, service, account, secret } = JSON.parse(order);
  let value = null;
  let failed = null;
  try {
    const { Entry } = require('@napi-rs/keyring');
    const entry = new Entry(service, account, { linux: { store: 'secret-service' } });
    if (action === 'write') entry.setPassword(secret);
    else if (action === 'remove') entry.deletePassword();
    else value = entry.getPassword();
  } catch (error) {
    failed = error.code === 'MODULE_NOT_FOUND' ? 'missing' : 'refused';
  }
  stdout.write(JSON.stringify({ value, failed }));
});`;

export interface Keychain {
  /** Why it cannot be used, undefined when it can. Writes nothing. */
  problem(): Promise<string | undefined>;
  /** The key, undefined when there is none. Throws `not_authenticated` when the keychain does not answer. */
  read(account: string): Promise<Secret | undefined>;
  /** Why it was not kept, undefined when it was and was read back. */
  write(account: string, key: Secret): Promise<string | undefined>;
  /** Why it may still be there, undefined when it is gone. */
  remove(account: string): Promise<string | undefined>;
}

type KeychainDependencies = Pick<Host, 'clock' | 'env' | 'platform'> & {
  /** Node's own program; undefined in the single executable, which is no Node for other scripts. */
  readonly node: string | undefined;
};

type Order = { readonly account: string } & (
  | { readonly action: 'read' | 'remove' }
  | { readonly action: 'write'; readonly secret: string }
);

/** Nothing is started before it is asked. */
export function openKeychain({ clock, env, node, platform }: KeychainDependencies): Keychain {
  /** The value that was read, where there is one; a `problem` says why nothing was done. */
  async function ask(order: Order): Promise<{ readonly value?: string | undefined; readonly problem?: string }> {
    if (node === undefined) return { problem: 'this single executable cannot speak to it' };
    // The package is looked for from our own folder, never from the working folder.
    const cwd = dirname(fileURLToPath(import.meta.url));
    try {
      const input = JSON.stringify({ service: SERVICE, ...order });
      const limits = { clock, patienceMs: PATIENCE_MS, maxBuffer: MOST_BYTES };
      const needed = Object.fromEntries(Object.entries(env).filter(([name]) => NEEDED.test(name)));
      const text = await outputOf([node, '-e', CHILD], { cwd, env: needed, input, ...limits });
      const { value, failed } = JSON.parse(text) as { value?: unknown; failed?: unknown };
      if (failed === 'missing') return { problem: 'the optional package @napi-rs/keyring is not installed' };
      if (failed !== null) return { problem: 'the keychain refused' };
      return { value: typeof value === 'string' ? value : undefined };
    } catch (thrown) {
      const { code, syscall } = thrown as NodeJS.ErrnoException;
      if (code === 'ABORT_ERR') return { problem: 'the keychain did not answer within 3 s' };
      if (syscall?.startsWith('spawn')) return { problem: 'the program that speaks to it cannot be started' };
      // It died before it answered; what it said on the way may hold the key and is not looked at.
      return { problem: 'the keychain gave no answer' };
    }
  }

  return {
    async problem() {
      const bus = platform === 'linux' ? sessionBus(env) : undefined;
      return bus ?? (await ask({ action: 'read', account: PROBED })).problem;
    },
    async read(account) {
      const { value, problem } = await ask({ action: 'read', account });
      if (problem !== undefined) {
        const message = `the key is in the keychain of this system, and ${problem}`;
        throw notSent('not_authenticated', message, 'cardwright doctor');
      }
      return value === undefined ? undefined : new Secret(value);
    },
    async write(account, key) {
      const written = await ask({ action: 'write', account, secret: key.expose() });
      if (written.problem !== undefined) return written.problem;
      const { value, problem } = await ask({ action: 'read', account });
      return problem ?? (value === key.expose() ? undefined : 'the keychain did not give back what it was given');
    },
    async remove(account) {
      return (await ask({ action: 'remove', account })).problem;
    },
  };
}

/** Without a session bus there is no secret service to ask. */
function sessionBus(env: Environment): string | undefined {
  const named = env['DBUS_SESSION_BUS_ADDRESS'] ?? '';
  const usual = env['XDG_RUNTIME_DIR']?.startsWith('/') ? `${env['XDG_RUNTIME_DIR']}/bus` : '';
  const path = /(?:^|;)unix:path=([^,;]+)/.exec(named)?.[1] ?? usual;
  const isThere = /(?:^|;)unix:abstract=/.test(named) || existsSync(path);
  return isThere ? undefined : 'there is no session bus, and so no secret service';
}
